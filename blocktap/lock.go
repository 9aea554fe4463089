package blocktap

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// A BusyError says that a disk cannot be opened because another process uses it.
type BusyError struct {
	Path   string
	Holder string // the user of the disk as far as known: "process 4711 (qemu-system-x86)"
	// Orphan says that no running process is known to have taken the lock. It may have ended, and a
	// process that it started may still have the lock.
	Orphan bool
}

func (e *BusyError) Error() string {
	return fmt.Sprintf("%s is in use by %s; a disk served twice would be damaged", e.Path, e.Holder)
}

// lock takes two locks on a file. The kernel releases both with the last descriptor of the open
// file. fsward and udev use flock, and /proc/locks names its holder. qemu marks an image as in use
// with locks on single bytes. The open-file-description lock on all bytes conflicts with these.
func lock(f *os.File, exclusive bool) error {
	how, kind := unix.LOCK_SH, int16(unix.F_RDLCK)
	if exclusive {
		how, kind = unix.LOCK_EX, unix.F_WRLCK
	}
	raw, err := f.SyscallConn()
	if err != nil {
		return err
	}
	var flockErr, ofdErr error
	if err := raw.Control(func(fd uintptr) {
		flockErr = ignoringEINTR(func() error { return unix.Flock(int(fd), how|unix.LOCK_NB) })
		ofdErr = ignoringEINTR(func() error {
			return unix.FcntlFlock(fd, unix.F_OFD_SETLK, &unix.Flock_t{Type: kind, Whence: io.SeekStart})
		})
	}); err != nil {
		return err
	}
	switch {
	case errors.Is(flockErr, unix.EWOULDBLOCK):
		return flockHolder(f)
	case errors.Is(ofdErr, unix.EAGAIN), errors.Is(ofdErr, unix.EACCES):
		return &BusyError{Path: f.Name(), Holder: "a program that locks what it uses, such as qemu"}
	}
	if err := errors.Join(flockErr, ofdErr); err != nil {
		return fmt.Errorf("%s: cannot be locked: %w", f.Name(), err)
	}
	return nil
}

// LockImage locks an image that another program is to open, as OpenFile locks a raw file. It takes
// only the lock that qemu does not use, so that qemu can take its own. The lock ends with the last
// descriptor of the file. If the image is in use, the error is a *BusyError.
func LockImage(path string, exclusive bool) (*os.File, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	how := unix.LOCK_SH
	if exclusive {
		how = unix.LOCK_EX
	}
	err = ignoringEINTR(func() error { return unix.Flock(int(f.Fd()), how|unix.LOCK_NB) })
	if err == nil {
		return f, nil
	}
	if errors.Is(err, unix.EWOULDBLOCK) {
		err = flockHolder(f)
	} else {
		err = fmt.Errorf("%s: cannot be locked: %w", path, err)
	}
	return nil, errors.Join(err, f.Close())
}

// flockHolder describes the process that holds a flock on a file, according to /proc/locks.
func flockHolder(f *os.File) *BusyError {
	busy := &BusyError{Path: f.Name(), Holder: "another process", Orphan: true}
	var st unix.Stat_t
	if err := unix.Stat(f.Name(), &st); err != nil {
		return busy
	}
	locks, err := os.Open("/proc/locks")
	if err != nil {
		return busy
	}
	defer locks.Close()
	inode := fmt.Sprintf("%02x:%02x:%d", unix.Major(st.Dev), unix.Minor(st.Dev), st.Ino)
	for lines := bufio.NewScanner(locks); lines.Scan(); {
		// "1: FLOCK  ADVISORY  WRITE 4711 fd:00:1234 0 EOF"
		words := strings.Fields(lines.Text())
		if len(words) < 6 || words[1] != "FLOCK" || words[5] != inode {
			continue
		}
		pid, err := strconv.Atoi(words[4])
		if err != nil || pid <= 0 {
			continue
		}
		if pid == os.Getpid() {
			busy.Holder, busy.Orphan = "this process, which serves it already", false
			return busy
		}
		busy.Holder = fmt.Sprintf("process %d", pid)
		name, err := os.ReadFile(fmt.Sprintf("/proc/%d/comm", pid))
		if busy.Orphan = errors.Is(err, os.ErrNotExist); err == nil {
			busy.Holder += fmt.Sprintf(" (%s)", strings.TrimSpace(string(name)))
		}
		return busy
	}
	return busy
}
