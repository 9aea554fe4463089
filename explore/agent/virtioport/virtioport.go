// Package virtioport finds the virtio-serial ports of a guest, in the guest.
package virtioport

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// Find returns the device of the port with the name that the hypervisor has given it, such as /dev/vport0p1.
func Find(name string) (string, error) {
	files, err := filepath.Glob("/sys/class/virtio-ports/*/name")
	if err != nil {
		return "", err
	}
	for _, file := range files {
		if b, err := os.ReadFile(file); err == nil && strings.TrimSpace(string(b)) == name {
			return "/dev/" + filepath.Base(filepath.Dir(file)), nil
		}
	}
	return "", fmt.Errorf("no virtio-serial port has the name %s", name)
}
