// Package virtioport finds the virtio-serial ports of the guest that the calling process runs in.
package virtioport

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// Find returns the path of the device, such as /dev/vport0p1, of the port to which the hypervisor
// gave a name. It fails if there is no such port.
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
