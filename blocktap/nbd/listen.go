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

// SocketInUseError is a socket that a running server listens on.
type SocketInUseError struct{ Path string }

func (e *SocketInUseError) Error() string {
	return fmt.Sprintf("socket in use: a server listens on %s already", e.Path)
}

// Listen listens on a unix socket, which only the user can connect to. A socket that a server which is
// gone left behind is replaced; one on which somebody listens is a *SocketInUseError, and a file that is
// not a socket is left alone. Closing the listener removes the socket.
func Listen(path string) (net.Listener, error) {
	l, err := bind(path)
	if !errors.Is(err, unix.EADDRINUSE) {
		return l, err
	}
	if st, err := os.Lstat(path); err == nil && st.Mode()&os.ModeSocket == 0 {
		return nil, fmt.Errorf("%s is there and is not a socket", path)
	}
	nc, dialErr := net.Dial("unix", path)
	switch {
	case dialErr == nil:
		_ = nc.Close()
		return nil, &SocketInUseError{Path: path}
	case !errors.Is(dialErr, unix.ECONNREFUSED) && !errors.Is(dialErr, unix.ENOENT):
		return nil, fmt.Errorf("%s is there, and whether it is in use cannot be told: %w", path, dialErr)
	}
	// Nobody listens.
	if err := os.Remove(path); err != nil && !errors.Is(err, os.ErrNotExist) {
		return nil, err
	}
	return bind(path)
}

// bind makes the socket with mode 0600 from the start: the mode of the socket's own inode, before it is
// bound, is what the file in the directory gets (unix_bind_bsd).
func bind(path string) (net.Listener, error) {
	lc := net.ListenConfig{Control: func(_, _ string, raw syscall.RawConn) error {
		var chmodErr error
		if err := raw.Control(func(fd uintptr) { chmodErr = unix.Fchmod(int(fd), 0o600) }); err != nil {
			return err
		}
		return chmodErr
	}}
	return lc.Listen(context.Background(), "unix", path)
}
