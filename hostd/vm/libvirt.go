//go:build cgo

package vm

// Supported reports why this binary cannot run guests: nil, as it was built with libvirt.
func Supported() error { return nil }
