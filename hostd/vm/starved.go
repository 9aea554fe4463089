//go:build cgo

package vm

import (
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// peerOf returns the process at the other end of a unix socket.
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
	if err := raw.Control(func(fd uintptr) {
		cred,
			e = unix.GetsockoptUcred(int(fd), unix.SOL_SOCKET, unix.SO_PEERCRED)
	}); err != nil {
		return 0, err
	}
	if e != nil {
		return 0, e
	}
	return int(cred.Pid), nil
}

// Starved returns how long QEMU's main thread and the guest's processor were ready to run while
// this host's processors were busy: the second number of /proc/PID/task/TID/schedstat. Of several
// processors it takes the longest time. Everything that the guest sends and receives passes both
// threads: while they wait, a silent guest does not hang.
func (d *Domain) Starved() (main, processor time.Duration, err error) {
	names, err := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/comm", d.qemu))
	if err != nil {
		return 0, 0, err
	}
	for _, name := range names {
		comm, err := os.ReadFile(name)
		if err != nil {
			continue // the thread has ended
		}
		isMain := filepath.Base(filepath.Dir(name)) == strconv.Itoa(d.qemu)
		if !isMain && !strings.HasPrefix(string(comm), "CPU ") { // libvirt makes QEMU name its threads
			continue
		}
		b, err := os.ReadFile(filepath.Join(filepath.Dir(name), "schedstat"))
		if err != nil {
			continue
		}
		var ran, ready int64
		if _, err := fmt.Sscan(string(b), &ran, &ready); err != nil {
			return 0, 0, fmt.Errorf("%s: %w", name, err)
		}
		if isMain {
			main = time.Duration(ready)
		} else {
			processor = max(processor, time.Duration(ready))
		}
	}
	return main, processor, nil
}
