package vm

import (
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"time"

	"golang.org/x/sys/unix"
)

// peerOf is the process at the other end of a unix socket.
func peerOf(conn net.Conn) (pid int, err error) {
	u, ok := conn.(*net.UnixConn)
	if !ok {
		return 0, errors.New("not a unix socket")
	}
	raw, err := u.SyscallConn()
	if err != nil {
		return 0, err
	}
	var cred *unix.Ucred
	var e error
	if err := raw.Control(func(fd uintptr) { cred, e = unix.GetsockoptUcred(int(fd), unix.SOL_SOCKET, unix.SO_PEERCRED) }); err != nil {
		return 0, err
	}
	if e != nil {
		return 0, e
	}
	return int(cred.Pid), nil
}

// Starved returns for how long, all of QEMU's threads together, they were ready to run and this host's processors were not
// free: the second number of /proc/PID/task/TID/schedstat. A guest that is silent meanwhile does not hang.
func (d *Domain) Starved() (waited time.Duration, err error) {
	names, err := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/schedstat", d.qemu))
	if err != nil {
		return 0, err
	}
	for _, name := range names {
		b, err := os.ReadFile(name)
		if err != nil {
			continue // the thread has ended
		}
		var ran, ready int64
		if _, err := fmt.Sscan(string(b), &ran, &ready); err != nil {
			return 0, fmt.Errorf("%s: %w", name, err)
		}
		waited += time.Duration(ready)
	}
	return waited, nil
}
