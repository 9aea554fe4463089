package attach

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// The files that say whether AppArmor confines QEMU, and where Debian's libvirt takes the
// administrator's own rules for it.
const (
	apparmorEnabled = "/sys/module/apparmor/parameters/enabled"
	apparmorRules   = "/etc/apparmor.d/local/abstractions/libvirt-qemu"
)

// hints says what is left to do on a host with an attached domain.
func hints(opt Options) []string {
	enabled, err := os.ReadFile(apparmorEnabled)
	if err != nil || !strings.HasPrefix(string(enabled), "Y") {
		return nil
	}
	return apparmorHint(apparmorRules, opt.Socket)
}

// keepsReconnect reports whether a definition, as libvirt has taken it, has the element for a guard
// that starts again. libvirt before 9.1 drops it.
func keepsReconnect(definition string) bool {
	d, err := parse(definition)
	if err != nil {
		return false
	}
	for _, e := range d.disks() {
		source := e.SelectElement("source")
		if source != nil && attr(source, "reconnect", "delay") != "" {
			return true
		}
	}
	return false
}

// apparmorHint returns the line that lets QEMU use a socket, unless a file of rules names the
// socket's folder: libvirt makes rules for images and not for sockets of NBD disks.
func apparmorHint(rules, socket string) []string {
	folder := filepath.Dir(socket) + "/"
	if text, err := os.ReadFile(rules); err == nil && strings.Contains(string(text), folder) {
		return nil
	}
	return []string{fmt.Sprintf("AppArmor confines QEMU. Let it use the socket:\n"+
		"#   echo '  %s*.sock rw,' >> %s", folder, rules)}
}
