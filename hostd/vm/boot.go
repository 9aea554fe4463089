package vm

import (
	"fmt"
	"os"
	"path/filepath"
)

// bootable returns an error that names what is missing of what a domain boots from.
func (c *Config) bootable() error {
	for _, file := range []string{c.Kernel, c.Initramfs} {
		if file == "" {
			continue
		}
		if _, err := os.Stat(file); err != nil {
			return fmt.Errorf("%w: make guest builds the kernel and the initramfs of a guest", err)
		}
	}
	if c.EFI {
		if _, err := os.Stat(efiCode); err != nil {
			return fmt.Errorf("no firmware for EFI: %w: apt-get install ovmf", err)
		}
	}
	return nil
}

// anyKernel returns a kernel to try KVM with: the guest's own, or the host's. It returns "" if
// there is none.
func anyKernel(own string) string {
	if own != "" {
		return own
	}
	found, err := filepath.Glob("/boot/vmlinuz-*")
	if err != nil || len(found) == 0 {
		return ""
	}
	return found[len(found)-1]
}
