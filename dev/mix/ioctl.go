package mix

import (
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"

	"golang.org/x/sys/unix"
)

// Requests with a struct btrfs_ioctl_vol_args: a file descriptor and a name.
const (
	snapCreate   = 0x50009401 // BTRFS_IOC_SNAP_CREATE
	subvolCreate = 0x5000940e // BTRFS_IOC_SUBVOL_CREATE
	snapDestroy  = 0x5000940f // BTRFS_IOC_SNAP_DESTROY
)

// volumeIoctl makes or deletes the subvolume path. source is the one to take a snapshot of, or "".
func volumeIoctl(request uint, path, source string) error {
	parent, err := os.Open(filepath.Dir(path))
	if err != nil {
		return err
	}
	return errors.Join(volumeIoctlAt(request, parent, filepath.Base(path), source), parent.Close())
}

// volumeIoctlAt is volumeIoctl for the subvolume name in the directory parent.
func volumeIoctlAt(request uint, parent *os.File, name, source string) error {
	var args [4096]byte
	if source != "" {
		src, err := os.Open(source)
		if err != nil {
			return err
		}
		defer src.Close()
		binary.NativeEndian.PutUint64(args[:], uint64(src.Fd()))
	}
	copy(args[8:len(args)-1], name)
	return unix.IoctlSetString(int(parent.Fd()), request, string(args[:]))
}

// Snapshots takes n snapshots of a subvolume at the same time, each in a directory of its own, so
// that few transactions hold all of them. Each snapshot ends its transaction
// (create_snapshot in ioctl.c); those that begin meanwhile share the next one.
func Snapshots(source, dir string, n int) error {
	for i := range n {
		if err := os.MkdirAll(filepath.Join(dir, fmt.Sprint(i)), 0o755); err != nil {
			return err
		}
	}
	return atOnce(n, func(i int) error {
		return volumeIoctl(snapCreate, filepath.Join(dir, fmt.Sprint(i), "s"), source)
	})
}

// NestedSnapshots makes n subvolumes named "n" in dir, each in the one before, and takes a snapshot
// "s" of source in each of them, all at the same time as Snapshots does. It holds n files open,
// because the paths are longer than the kernel takes.
func NestedSnapshots(source, dir string, n int) error {
	parent, err := os.Open(dir)
	if err != nil {
		return err
	}
	defer parent.Close()
	volumes := make([]*os.File, n)
	for i := range n {
		if err := volumeIoctlAt(subvolCreate, parent, "n", ""); err != nil {
			return err
		}
		fd, err := unix.Openat(int(parent.Fd()), "n", unix.O_RDONLY|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
		if err != nil {
			return err
		}
		volumes[i] = os.NewFile(uintptr(fd), "n")
		defer volumes[i].Close()
		parent = volumes[i]
	}
	return atOnce(n, func(i int) error { return volumeIoctlAt(snapCreate, volumes[i], "s", source) })
}

// atOnce calls f with each number below n at the same time.
func atOnce(n int, f func(int) error) error {
	errs := make([]error, n)
	var all sync.WaitGroup
	for i := range n {
		all.Go(func() { errs[i] = f(i) })
	}
	all.Wait()
	return errors.Join(errs...)
}
