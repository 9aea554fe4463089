// Package vm runs a guest through libvirt. It finds or starts a libvirtd, starts a transient domain
// whose disks are NBD exports, follows its console and its lifecycle, and talks to the workload
// inside.
//
// Everything it makes lies in the run directory that the caller gives: sockets, the state and the
// logs of a private libvirtd, and the record of our domains. Start reading at Connect and
// Host.Start.
package vm

import (
	"fmt"
	"path/filepath"
	"regexp"
	"strings"
)

// Accel says what executes the guest's instructions.
type Accel string

// The values of Config.Accel.
const (
	AccelAuto Accel = ""    // KVM if it works on this host, else TCG
	AccelKVM  Accel = "kvm" // the processor's own virtualization
	AccelTCG  Accel = "tcg" // QEMU's translator: slow, works everywhere
)

// A Disk of a domain is an NBD export on a unix socket.
type Disk struct {
	NBDSocket string // path of the server's socket
	Export    string // NBD export name
	Serial    string // serial of the disk in the guest, at most 20 bytes; may be empty
}

// Config describes a domain.
type Config struct {
	Name      string // letters, digits, ".", "_", "-"; at most 40
	Kernel    string // path of a bzImage; "": the first disk boots by its own boot loader
	Initramfs string // path of an initramfs; "" for none
	Cmdline   string // appended to the parameters for the console; only with a kernel
	EFI       bool   // boot the disk by EFI instead of a BIOS; only without a kernel
	Network   bool   // a network card behind QEMU's user-mode network
	MemoryMiB uint   // 0 selects 512
	VCPUs     uint   // 0 selects 1
	Accel     Accel
	Disks     []Disk // vda, vdb, … in this order; at most 8

	Console string       // file for the serial console; an existing one is replaced
	OnLine  func(string) // if not nil, receives each line of the console; it must return soon
	Channel bool         // give the guest the virtio-serial port org.fsward.0: see Domain.Channel
	Agent   bool         // give the guest the port org.fsward.agent: see Domain.Agent
	Calls   string       // path of a listening socket for the port of fswcalls; "" for none
}

// Limits of the formats beneath.
const (
	maxSocketPath = 107 // sockaddr_un.sun_path without its zero byte
	maxSerial     = 20  // VIRTIO_BLK_ID_BYTES
	maxDisks      = 8
	maxName       = 40
)

// channelName is the port that the guest opens: see guest/workload.sh.
const channelName = "org.fsward.0"

// agentName is the port that fsagent opens: see explore/agent.
const agentName = "org.fsward.agent"

var nameSyntax = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._-]*$`)

// check sets defaults and makes paths absolute, since libvirtd has another working directory.
func (c *Config) check() error {
	if len(c.Name) > maxName || !nameSyntax.MatchString(c.Name) {
		return fmt.Errorf("domain name %q: expected at most %d letters, digits, '.', '_' and '-'", c.Name,
			maxName)
	}
	if c.MemoryMiB == 0 {
		c.MemoryMiB = 512
	}
	if c.VCPUs == 0 {
		c.VCPUs = 1
	}
	if len(c.Disks) > maxDisks {
		return fmt.Errorf("domain %s: %d disks, at most %d are supported", c.Name, len(c.Disks), maxDisks)
	}
	if err := c.checkBoot(); err != nil {
		return err
	}
	if err := c.absolute(); err != nil {
		return err
	}
	if err := checkSocketPath(c.Calls); err != nil {
		return err
	}
	return c.checkDisks()
}

// checkBoot checks what the domain boots.
func (c *Config) checkBoot() error {
	if strings.ContainsAny(c.Cmdline, "\n\r\x00") {
		return fmt.Errorf("domain %s: a kernel command line is one line", c.Name)
	}
	if c.Kernel == "" && (c.Initramfs != "" || c.Cmdline != "") {
		return fmt.Errorf("domain %s: an initramfs and a command line need a kernel", c.Name)
	}
	if c.Kernel != "" && c.EFI {
		return fmt.Errorf("domain %s: EFI boots a disk, not a kernel", c.Name)
	}
	if c.Kernel == "" && len(c.Disks) == 0 {
		return fmt.Errorf("domain %s: neither a kernel nor a disk to boot", c.Name)
	}
	return nil
}

// absolute makes paths absolute.
func (c *Config) absolute() error {
	paths := []*string{&c.Console}
	c.Disks = append([]Disk(nil), c.Disks...)
	for _, p := range []*string{&c.Kernel, &c.Initramfs, &c.Calls} {
		if *p != "" {
			paths = append(paths, p)
		}
	}
	for i := range c.Disks {
		paths = append(paths, &c.Disks[i].NBDSocket)
	}
	for _, p := range paths {
		if *p == "" {
			return fmt.Errorf("domain %s: the console file and the socket of each disk must be given",
				c.Name)
		}
		abs, err := filepath.Abs(*p)
		if err != nil {
			return err
		}
		*p = abs
	}
	return nil
}

// checkDisks checks the sockets and serial numbers of the disks.
func (c *Config) checkDisks() error {
	seen := make(map[string]bool)
	for _, d := range c.Disks {
		if err := checkSocketPath(d.NBDSocket); err != nil {
			return err
		}
		if len(d.Serial) > maxSerial || strings.ContainsFunc(d.Serial, notSerial) {
			return fmt.Errorf("disk serial %q: expected at most %d letters, digits, '.', '_' and '-'",
				d.Serial, maxSerial)
		}
		if d.Serial != "" && seen[d.Serial] {
			return fmt.Errorf("two disks have the serial %q", d.Serial)
		}
		seen[d.Serial] = true
	}
	return nil
}

func notSerial(r rune) bool {
	letter := r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z'
	digit := r >= '0' && r <= '9'
	return !letter && !digit && !strings.ContainsRune("._-", r)
}

// checkSocketPath rejects a path that is too long for a unix socket. The kernel would cut it, or
// only say "invalid argument".
func checkSocketPath(path string) error {
	if len(path) > maxSocketPath {
		return fmt.Errorf("socket path %s has %d bytes, at most %d are possible: "+
			"choose a shorter run directory", path, len(path), maxSocketPath)
	}
	return nil
}
