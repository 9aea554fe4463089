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
	var args [4096]byte
	if source != "" {
		src, err := os.Open(source)
		if err != nil {
			return err
		}
		defer src.Close()
		binary.NativeEndian.PutUint64(args[:], uint64(src.Fd()))
	}
	copy(args[8:len(args)-1], filepath.Base(path))
	parent, err := os.Open(filepath.Dir(path))
	if err != nil {
		return err
	}
	err = unix.IoctlSetString(int(parent.Fd()), request, string(args[:]))
	return errors.Join(err, parent.Close())
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
	errs := make([]error, n)
	var all sync.WaitGroup
	for i := range n {
		all.Go(func() {
			errs[i] = volumeIoctl(snapCreate, filepath.Join(dir, fmt.Sprint(i), "s"), source)
		})
	}
	all.Wait()
	return errors.Join(errs...)
}
