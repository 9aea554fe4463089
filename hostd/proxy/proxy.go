// Package proxy keeps the connection of a guest's QEMU while its guard starts again. Between QEMU
// and the guard stands a qemu-storage-daemon, a server for QEMU and a client of the guard. It waits
// for a guard that is gone, and repeats the requests that the guard has not answered. QEMU can do
// the same itself, but libvirt before 9.1 does not let it:
// docs/decisions/0048-a-proxy-waits-for-the-guard.md. Start reading at Exec.
package proxy

import (
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"strconv"
	"time"

	"golang.org/x/sys/unix"
)

// program is QEMU's daemon that serves block devices without a virtual machine.
const program = "qemu-storage-daemon"

// Config describes a proxy.
type Config struct {
	Guard string   // path of the guard's socket
	Disks []string // names of the guarded disks, which the proxy exports under the same names
	// Wait is how long a request waits for a guard that is gone, and how long the proxy waits for the
	// guard when it starts; whole seconds.
	Wait time.Duration
}

// clientsPerDisk bounds the connections to the proxy: QEMU has one for each disk, and a new one may
// come before an old one is closed.
const clientsPerDisk = 4

// Check returns an error if no proxy can have the configuration.
func (c Config) Check() error {
	seen := make(map[string]bool)
	for _, name := range c.Disks {
		if name == "" || seen[name] {
			return fmt.Errorf("disk %q is empty or named twice", name)
		}
		seen[name] = true
	}
	if len(c.Disks) == 0 {
		return errors.New("a proxy needs the name of a disk")
	}
	if c.Wait < time.Second {
		return fmt.Errorf("the proxy would wait %v for the guard: a second is the least", c.Wait)
	}
	return nil
}

// options are an argument of the program in JSON.
type options map[string]any

// args returns the arguments of the program. It serves at the listening socket with a file
// descriptor.
func (c Config) args(listener int) ([]string, error) {
	seconds := int(c.Wait / time.Second)
	args := []string{program, "--nbd-server", "addr.type=fd,addr.str=" + strconv.Itoa(listener) +
		",max-connections=" + strconv.Itoa(clientsPerDisk*len(c.Disks))}
	add := func(flag string, o options) error {
		text, err := json.Marshal(o)
		args = append(args, flag, string(text))
		return err
	}
	var errs []error
	for i, name := range c.Disks {
		node := "disk" + strconv.Itoa(i)
		errs = append(errs, add("--blockdev", options{
			"driver": "nbd", "node-name": node, "export": name, "discard": "unmap",
			"server":          options{"type": "unix", "path": c.Guard},
			"reconnect-delay": seconds, "open-timeout": seconds,
		}), add("--export", options{
			"type": "nbd", "id": node, "node-name": node, "name": name, "writable": true,
		}))
	}
	return args, errors.Join(errs...)
}

// Exec becomes the proxy: it replaces this process by a qemu-storage-daemon that serves at l. It
// returns only an error. Clients may connect at once; they wait until the guard is there.
func Exec(c Config, l net.Listener) error {
	if err := c.Check(); err != nil {
		return err
	}
	at, err := exec.LookPath(program)
	if err != nil {
		return fmt.Errorf("%s is missing: apt-get install qemu-system-common: %w", program, err)
	}
	socket, ok := l.(*net.UnixListener)
	if !ok {
		return fmt.Errorf("the proxy cannot serve at a socket of the network %s", l.Addr().Network())
	}
	f, err := socket.File()
	if err != nil {
		return fmt.Errorf("the proxy's socket: %w", err)
	}
	// The new program inherits the descriptor, which Go has opened with close-on-exec.
	if _, err := unix.FcntlInt(f.Fd(), unix.F_SETFD, 0); err != nil {
		return fmt.Errorf("the proxy's socket: %w", err)
	}
	args, err := c.args(int(f.Fd()))
	if err != nil {
		return err
	}
	return fmt.Errorf("cannot start %s: %w", at, unix.Exec(at, args, os.Environ()))
}
