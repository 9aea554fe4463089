package attach

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// What says whether AppArmor confines the unix sockets of QEMU, and where Debian's libvirt takes
// the administrator's own rules for it.
const (
	apparmorEnabled = "/sys/module/apparmor/parameters/enabled"
	// Kernels whose AppArmor knows unix sockets have this file in the folder of a version: those of
	// Ubuntu, and Linux 6.17 and later. Others let a confined program connect to every socket.
	apparmorSockets = "/sys/kernel/security/apparmor/features/network*/af_unix"
	apparmorRules   = "/etc/apparmor.d/local/abstractions/libvirt-qemu"
)

// hints says what is left to do on a host with an attached domain.
func hints(opt Options) []string {
	if !confinesSockets(apparmorEnabled, apparmorSockets) {
		return nil
	}
	return apparmorHint(apparmorRules, opt.Socket)
}

// confinesSockets reports whether AppArmor is enabled, according to a file, and knows unix sockets:
// a file matches the pattern.
func confinesSockets(enabled, sockets string) bool {
	text, err := os.ReadFile(enabled)
	if err != nil || !strings.HasPrefix(string(text), "Y") {
		return false
	}
	found, err := filepath.Glob(sockets)
	return err == nil && len(found) > 0
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
