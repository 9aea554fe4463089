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

// Listen listens on a Unix socket with mode 0600. If the socket exists and no server listens on it,
// Listen replaces it. If a server listens on it, the error is a *SocketInUseError. A file that is
// not a socket is also an error. Closing the listener removes the socket.
func Listen(path string) (net.Listener, error) {
	l, err := bind(path)
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
	return bind(path)
}

// bind creates the socket with mode 0600. It sets the mode before the bind: the kernel gives the
// file the mode of the socket's own inode (unix_bind_bsd).
func bind(path string) (net.Listener, error) {
	lc := net.ListenConfig{Control: func(_, _ string, raw syscall.RawConn) error {
		var chmodErr error
		err := raw.Control(func(fd uintptr) { chmodErr = unix.Fchmod(int(fd), 0o600) })
		if err != nil {
			return err
		}
		return chmodErr
	}}
	return lc.Listen(context.Background(), "unix", path)
}
