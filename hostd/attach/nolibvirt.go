//go:build !cgo

package attach

import (
	"context"
	"errors"
)

var errNoLibvirt = errors.New("this fsward was built without libvirt, so it cannot change domains: " +
	"install gcc, pkg-config and libvirt-dev (make setup does), and build it with make build")

// Attach fails: this binary has no libvirt.
func Attach(context.Context, string, string, []string, Options) (Attached, error) {
	return Attached{}, errNoLibvirt
}

// Detach fails: this binary has no libvirt.
func Detach(context.Context, string, string) ([]Disk, error) { return nil, errNoLibvirt }
