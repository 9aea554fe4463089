package fuse

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"

	"go.uber.org/zap"
	"golang.org/x/sys/unix"
)

// mountType is the type of our mounts in mountinfo.
const mountType = "fuse.fsward"

// sourcePrefix begins the source of a server's mount. The server's process and its start time
// follow. A mount whose process is gone is stale. Servers of one directory have to be in one PID
// namespace.
const sourcePrefix = "fsward:"

// ownSource returns the source of the mounts of this process.
func ownSource() (string, error) {
	start, err := startTime(os.Getpid())
	if err != nil {
		return "", err
	}
	return fmt.Sprintf("%s%d:%d", sourcePrefix, os.Getpid(), start), nil
}

// startTime returns when a process started, in clock ticks since the boot. Together with its number
// it identifies the process, since numbers are used again.
func startTime(pid int) (uint64, error) {
	path := fmt.Sprintf("/proc/%d/stat", pid)
	text, err := os.ReadFile(path)
	if err != nil {
		return 0, err
	}
	// proc_pid_stat(5). The name of the program, field 2, may contain spaces and parentheses.
	const startField, nameField = 22, 2
	after := string(text[strings.LastIndexByte(string(text), ')')+1:])
	fields := strings.Fields(after)
	if len(fields) <= startField-nameField-1 {
		return 0, fmt.Errorf("%s has %d fields", path, len(fields)+nameField)
	}
	return strconv.ParseUint(fields[startField-nameField-1], 10, 64)
}

// serves reports whether the process that a source names still runs. An unknown source counts as
// one that does.
func serves(source string) (pid int, alive bool) {
	rest, ours := strings.CutPrefix(source, sourcePrefix)
	number, start, _ := strings.Cut(rest, ":")
	pid, err := strconv.Atoi(number)
	began, startErr := strconv.ParseUint(start, 10, 64)
	if !ours || err != nil || startErr != nil {
		return 0, true
	}
	now, err := startTime(pid)
	return pid, err == nil && now == began
}

// A BusyError says that another process serves a device at a directory.
type BusyError struct {
	Dir string
	PID int // 0 if it is not known
}

func (e *BusyError) Error() string {
	if e.PID == 0 {
		return fmt.Sprintf("%s is a mount of another fsward: umount --lazy %s", e.Dir, e.Dir)
	}
	return fmt.Sprintf("%s is served by fsward, process %d, already", e.Dir, e.PID)
}

// RemoveStale removes the mounts that servers have left at a directory when they were killed. It
// never touches the directory itself, because every access to it may wait for a server that is
// gone. If a server still runs, the error is a *BusyError. A directory that does not exist is not
// an error. A loop device on the file of a stale mount stays dead.
func RemoveStale(dir string, log *zap.Logger) error {
	at, err := resolve(dir)
	if err != nil {
		return err
	}
	for {
		m, err := mountAt(at)
		if err != nil || m == nil || m.kind != mountType {
			return err
		}
		pid, alive := serves(m.source)
		if alive {
			return &BusyError{at, pid}
		}
		log.Warn("removing the mount of a server that was killed", zap.String("dir", at),
			zap.Int("process", pid))
		// A child of the server may have the connection open: requests would wait for it. Otherwise the
		// connection has ended with the server.
		if err := abort(m.conn); err != nil {
			log.Warn("cannot end the connection of a stale mount", zap.String("dir", at), zap.Error(err))
		}
		if err := detachStale(at); err != nil {
			return fmt.Errorf("removing the stale mount %s: %w", at, err)
		}
	}
}

// detachStale removes a mount from the tree. Without root, fusermount3 does it.
func detachStale(dir string) error {
	err := unix.Unmount(dir, unix.MNT_DETACH|unix.UMOUNT_NOFOLLOW)
	if !errors.Is(err, unix.EPERM) {
		return err
	}
	if out, err := exec.Command("fusermount3", "-u", "-z", "--", dir).CombinedOutput(); err != nil {
		return fmt.Errorf("fusermount3: %w: %s", err, bytes.TrimSpace(out))
	}
	return nil
}

// maxLinks bounds a chain of symbolic links, as the kernel does.
const maxLinks = 40

// resolve returns the path of a directory without symbolic links. Of the directory itself it reads
// only whether it is a link.
func resolve(dir string) (string, error) {
	path, err := filepath.Abs(dir)
	if err != nil {
		return "", err
	}
	for range maxLinks {
		parent, err := filepath.EvalSymlinks(filepath.Dir(path))
		if os.IsNotExist(err) {
			return path, nil
		}
		if err != nil {
			return "", err
		}
		path = filepath.Join(parent, filepath.Base(path))
		to, linkErr := os.Readlink(path)
		if errors.Is(linkErr, unix.EINVAL) || os.IsNotExist(linkErr) { // no link
			return path, nil
		}
		if linkErr != nil {
			return "", linkErr
		}
		if !filepath.IsAbs(to) {
			to = filepath.Join(parent, to)
		}
		path = filepath.Clean(to)
	}
	return "", fmt.Errorf("%s: too many symbolic links", dir)
}
