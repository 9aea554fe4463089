package nbd

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"syscall"

	"golang.org/x/sys/unix"
)

// A SocketInUseError says that another server listens on a socket.
type SocketInUseError struct{ Path string }

func (e *SocketInUseError) Error() string {
	return fmt.Sprintf("socket in use: a server listens on %s already", e.Path)
}

// SocketOptions say who may connect to a socket.
type SocketOptions struct {
	Mode  os.FileMode // permission bits; 0 is 0600
	Group int         // id of the group of the socket; 0 leaves it as it is
}

// Listen listens on a Unix socket with mode 0600: see SocketOptions.Listen.
func Listen(path string) (net.Listener, error) { return SocketOptions{}.Listen(path) }

// Listen listens on a Unix socket. If the socket exists and no server listens on it,
// Listen replaces it. If a server listens on it, the error is a *SocketInUseError. A file that is
// not a socket is also an error. Closing the listener removes the socket.
func (o SocketOptions) Listen(path string) (net.Listener, error) {
	l, err := o.bind(path)
	if !errors.Is(err, unix.EADDRINUSE) {
		return l, err
	}
	if st, err := os.Lstat(path); err == nil && st.Mode()&os.ModeSocket == 0 {
		return nil, fmt.Errorf("%s exists and is not a socket", path)
	}
	nc, dialErr := net.Dial("unix", path)
	switch {
	case dialErr == nil:
		_ = nc.Close()
		return nil, &SocketInUseError{Path: path}
	case !errors.Is(dialErr, unix.ECONNREFUSED) && !errors.Is(dialErr, unix.ENOENT):
		return nil, fmt.Errorf("%s exists; cannot determine whether it is in use: %w", path, dialErr)
	}
	// No server listens.
	if err := os.Remove(path); err != nil && !errors.Is(err, os.ErrNotExist) {
		return nil, err
	}
	return o.bind(path)
}

// bind creates the socket with mode 0600, and then gives it to the group and opens it to others.
// The mode is set before the bind: the kernel gives the file the mode of the socket's own inode,
// less the umask (unix_bind_bsd).
func (o SocketOptions) bind(path string) (net.Listener, error) {
	lc := net.ListenConfig{Control: func(_, _ string, raw syscall.RawConn) error {
		var chmodErr error
		err := raw.Control(func(fd uintptr) { chmodErr = unix.Fchmod(int(fd), 0o600) })
		if err != nil {
			return err
		}
		return chmodErr
	}}
	l, err := lc.Listen(context.Background(), "unix", path)
	if err != nil {
		return nil, err
	}
	if o.Group != 0 {
		err = os.Lchown(path, -1, o.Group)
	}
	if err == nil && o.Mode.Perm() != 0 {
		err = os.Chmod(path, o.Mode.Perm())
	}
	if err != nil {
		return nil, errors.Join(err, l.Close())
	}
	return l, nil
}
