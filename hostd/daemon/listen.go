package daemon

import (
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"os/user"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/coreos/go-systemd/v22/activation"

	"fsward/blocktap/nbd"
)

// systemdPrefix begins the address of a socket that systemd has opened (systemd.socket(5)).
const systemdPrefix = "systemd:"

// ParseSocketOptions reads the group, a name or a number, and the mode, in octal, of a socket. ""
// leaves them at their defaults.
func ParseSocketOptions(group, mode string) (o nbd.SocketOptions, err error) {
	if mode != "" {
		n, err := strconv.ParseUint(mode, 8, 32)
		if err != nil || n == 0 || n > 0o777 {
			return o, fmt.Errorf("socket mode %q: expected an octal number such as 660", mode)
		}
		o.Mode = os.FileMode(n)
	}
	if group == "" {
		return o, nil
	}
	if o.Group, err = strconv.Atoi(group); err == nil {
		return o, nil
	}
	g, err := user.LookupGroup(group)
	if err != nil {
		return o, fmt.Errorf("socket group: %w", err)
	}
	o.Group, err = strconv.Atoi(g.Gid)
	return o, err
}

// maxSocketPath is the length of sockaddr_un.sun_path without its zero byte.
const maxSocketPath = 107

// CheckSocketPath returns an error if no unix socket can have a path. Another process is to connect
// to it, so it has to be absolute.
func CheckSocketPath(path string) error {
	switch {
	case !filepath.IsAbs(path):
		return fmt.Errorf("socket path %q: expected an absolute path", path)
	case len(path) > maxSocketPath:
		return fmt.Errorf("socket path %q has %d bytes, at most %d are possible", path, len(path),
			maxSocketPath)
	}
	return nil
}

// Listen listens at an address of Address: a path, or the name of a socket of systemd. It makes the
// folder of the path if only the last part of it is missing.
func Listen(address string, opt nbd.SocketOptions) (net.Listener, error) {
	if name, ok := strings.CutPrefix(address, systemdPrefix); ok {
		return activated(name)
	}
	err := os.Mkdir(filepath.Dir(address), 0o755) // as /run/fsward, which must let QEMU's user through
	if err != nil && !errors.Is(err, fs.ErrExist) {
		return nil, err
	}
	return opt.Listen(address)
}

// systemdSockets returns the sockets that systemd has opened for this process. It can ask for them
// only once (sd_listen_fds(3)). They stay open, since a guest may be served more than once.
var systemdSockets = sync.OnceValues(activation.ListenersWithNames)

// activated returns the socket with a name that systemd has opened for this process.
func activated(name string) (net.Listener, error) {
	sockets, err := systemdSockets()
	if err != nil {
		return nil, fmt.Errorf("sockets of systemd: %w", err)
	}
	if found := sockets[name]; len(found) == 1 && found[0] != nil {
		l, ok := found[0].(*net.UnixListener)
		if !ok {
			return nil, fmt.Errorf("the socket %q of systemd is not a unix socket", name)
		}
		f, err := l.File()
		if err != nil {
			return nil, err
		}
		defer f.Close()
		return net.FileListener(f)
	}
	var names []string
	for have := range sockets {
		names = append(names, have)
	}
	slices.Sort(names)
	return nil, fmt.Errorf("systemd has opened no socket %q for this process, but %d others (%s): "+
		"see FileDescriptorName= in systemd.socket(5)", name, len(names), strings.Join(names, ", "))
}
