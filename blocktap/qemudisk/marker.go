package qemudisk

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"
)

// A qemu-storage-daemon keeps metadata of an image in memory until the next flush. If it is killed,
// acknowledged writes are lost, as after a power cut; but the guest may still run and not know. So
// each process has a marker, a file that names the image: its own --pidfile, which it removes when
// it ends in order. A marker that is left over says that a process was killed.

// bootID is the file with a number that changes with each boot of the host. After a boot no guest
// runs that could miss writes, so that markers of former boots do not count.
const bootID = "/proc/sys/kernel/random/boot_id"

// A LostError says that the qemu-storage-daemon of an image was killed since the host has booted.
type LostError struct {
	Path   string // of the image
	Marker string // file that says so
}

func (e *LostError) Error() string {
	return fmt.Sprintf("%s: its qemu-storage-daemon was killed. Writes that it had acknowledged and "+
		"not flushed are lost, and a guest that still runs does not know. Power the guest off, "+
		"remove %s, and start again", e.Path, e.Marker)
}

// markerDir returns the folder of the markers, which it makes.
func markerDir() (string, error) {
	dir := "/run/fsward"
	if os.Geteuid() != 0 {
		if dir = os.Getenv("XDG_RUNTIME_DIR"); dir == "" {
			dir = filepath.Join(os.TempDir(), fmt.Sprintf("fsward-%d", os.Geteuid()))
		} else {
			dir = filepath.Join(dir, "fsward")
		}
	}
	// Others may go through /run/fsward to sockets: see daemon.Listen.
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return "", err
	}
	dir = filepath.Join(dir, "images")
	if err := os.Mkdir(dir, 0o700); err != nil && !errors.Is(err, fs.ErrExist) {
		return "", err
	}
	return dir, nil
}

// markerOf returns the path of the marker of an image that is open.
func markerOf(image *os.File) (string, error) {
	st, err := image.Stat()
	if err != nil {
		return "", err
	}
	sys, ok := st.Sys().(*syscall.Stat_t)
	if !ok {
		return "", fmt.Errorf("%s: unknown kind of file", image.Name())
	}
	boot, err := os.ReadFile(bootID)
	if err != nil {
		return "", err
	}
	dir, err := markerDir()
	if err != nil {
		return "", fmt.Errorf("the folder for markers of open images: %w", err)
	}
	// A new file may have the inode number of one that was removed, but not its time of birth. The
	// time is 0 on a file system without it.
	var x unix.Statx_t
	err = unix.Statx(int(image.Fd()), "", unix.AT_EMPTY_PATH, unix.STATX_BTIME, &x)
	if err != nil {
		return "", fmt.Errorf("%s: statx: %w", image.Name(), err)
	}
	name := fmt.Sprintf("%s-%x-%x-%x.%x", strings.TrimSpace(string(boot)), sys.Dev, sys.Ino,
		x.Btime.Sec, x.Btime.Nsec)
	if st.Mode()&os.ModeDevice != 0 {
		name = fmt.Sprintf("%s-device-%x", strings.TrimSpace(string(boot)), sys.Rdev)
	}
	return filepath.Join(dir, name), nil
}

// unmarked returns the marker for the process of an image whose lock is held. If there is one
// already, the error is a *LostError.
func unmarked(path string, lock *os.File) (marker string, err error) {
	if marker, err = markerOf(lock); err != nil {
		return "", err
	}
	switch _, err := os.Lstat(marker); {
	case err == nil:
		return "", &LostError{Path: path, Marker: marker}
	case !errors.Is(err, fs.ErrNotExist):
		return "", err
	}
	return marker, nil
}

// endOrphan asks the process that has an image open and is named in its marker to end. The kernel
// did so when its fsward was killed, once, and the process may not have noticed: see process.stop.
func endOrphan(path string) {
	image, err := os.Open(path)
	if err != nil {
		return
	}
	defer image.Close()
	marker, err := markerOf(image)
	if err != nil {
		return
	}
	text, err := os.ReadFile(marker)
	if err != nil {
		return
	}
	pid, err := strconv.Atoi(strings.TrimSpace(string(text)))
	if err == nil && pid > 1 && hasOpen(pid, image) {
		_ = syscall.Kill(pid, syscall.SIGTERM) // Open waits for what comes of it
	}
}

// hasOpen reports whether a process has a file open. The number of a process that has ended may be
// that of another one.
func hasOpen(pid int, file *os.File) bool {
	want, err := file.Stat()
	if err != nil {
		return false
	}
	links, err := filepath.Glob(fmt.Sprintf("/proc/%d/fd/*", pid))
	if err != nil {
		return false
	}
	return slices.ContainsFunc(links, func(link string) bool {
		got, err := os.Stat(link)
		return err == nil && os.SameFile(got, want)
	})
}
