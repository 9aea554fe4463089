package agent

import (
	"errors"
	"os"
	"runtime"
	"strings"

	"github.com/dennwc/ioctl"
	"golang.org/x/sys/unix"
)

// Subvolume makes an empty subvolume of Btrfs with the path (ioctl(2), BTRFS_IOC_SUBVOL_CREATE).
// Other file systems fail with ENOTTY.
func Subvolume(path string) Op { return Op{Code: opSubvolume, s: path} }

// Snapshot makes a snapshot with the path to of the subvolume whose root directory is at path
// (BTRFS_IOC_SNAP_CREATE_V2). It is read-only if readOnly is set.
func Snapshot(path, to string, readOnly bool) Op {
	return Op{Code: opSnapshot, s: path, t: to, a: boolNumber(readOnly)}
}

// SetReadOnly makes the subvolume whose root directory is at path read-only, or writable again
// (BTRFS_IOC_SUBVOL_SETFLAGS), as btrfs-property(8) does.
func SetReadOnly(path string, on bool) Op {
	return Op{Code: opSetReadOnly, s: path, a: boolNumber(on)}
}

// DeleteSubvolume deletes the subvolume whose root directory is at path, with all that is in it
// (BTRFS_IOC_SNAP_DESTROY).
func DeleteSubvolume(path string) Op { return Op{Code: opDeleteSubvolume, s: path} }

// A volumeArgs is struct btrfs_ioctl_vol_args of linux/btrfs.h.
type volumeArgs struct {
	FD   int64
	Name [4088]byte
}

// A snapshotArgs is struct btrfs_ioctl_vol_args_v2.
type snapshotArgs struct {
	FD, TransID, Flags uint64
	_                  [4]uint64
	Name               [4040]byte
}

// A lookupArgs is struct btrfs_ioctl_ino_lookup_args.
type lookupArgs struct {
	TreeID, ObjectID uint64
	Name             [4080]byte
}

// Commands of linux/btrfs.h. Their structures have 4,096 bytes.
const btrfsMagic, btrfsArgs = 0x94, 4096

var (
	subvolumeCreate = ioctl.IOW(btrfsMagic, 14, btrfsArgs)
	snapshotDestroy = ioctl.IOW(btrfsMagic, 15, btrfsArgs)
	inodeLookup     = ioctl.IOWR(btrfsMagic, 18, btrfsArgs)
	snapshotCreate  = ioctl.IOW(btrfsMagic, 23, btrfsArgs)
	getVolumeFlags  = ioctl.IOR(btrfsMagic, 25, 8) // of a u64
	setVolumeFlags  = ioctl.IOW(btrfsMagic, 26, 8)
)

// readOnlyVolume is BTRFS_SUBVOL_RDONLY.
const readOnlyVolume = 1 << 1

// setReadOnly performs SetReadOnly.
func setReadOnly(o *Op) error {
	dir, err := os.OpenFile(o.s, unix.O_RDONLY|unix.O_DIRECTORY, 0)
	if err != nil {
		return err
	}
	defer dir.Close()
	flags := o.a * readOnlyVolume
	err = ioctl.Do(dir, setVolumeFlags, &flags)
	runtime.KeepAlive(&flags)
	return err
}

// propertiesOf returns ReadOnly and Placeholder of a directory with an inode number.
func propertiesOf(path string, inode uint64) uint32 {
	switch NumberOf(inode) {
	case firstFree:
		dir, err := os.OpenFile(path, unix.O_RDONLY|unix.O_DIRECTORY|unix.O_NOATIME, 0)
		if err != nil {
			return 0
		}
		defer dir.Close()
		var flags uint64
		if ioctl.Do(dir, getVolumeFlags, &flags) == nil && flags&readOnlyVolume != 0 {
			return ReadOnly
		}
	case emptySubvolume:
		var st unix.Statfs_t
		if unix.Statfs(path, &st) == nil && st.Type == unix.BTRFS_SUPER_MAGIC {
			return Placeholder
		}
	}
	return 0
}

// subvolumeOp performs an operation on subvolumes.
func subvolumeOp(o *Op) error {
	made := o.s
	var source *os.File
	if o.Code == opSnapshot {
		made = o.t
		var err error
		if source, err = os.OpenFile(o.s, unix.O_RDONLY|unix.O_DIRECTORY, 0); err != nil {
			return err
		}
		defer source.Close()
	}
	// The name stays as it is: of "/mnt/", it must not be that of the mount point.
	at := strings.LastIndexByte(made, '/')
	dir, err := os.OpenFile(made[:at+1], unix.O_RDONLY|unix.O_DIRECTORY, 0)
	if err != nil {
		return err
	}
	defer dir.Close()
	name := made[at+1:]
	switch o.Code {
	case opSnapshot:
		args := &snapshotArgs{FD: uint64(source.Fd()), Flags: o.a * readOnlyVolume}
		return volumeCall(dir, snapshotCreate, args, args.Name[:], name)
	case opSubvolume:
		args := new(volumeArgs)
		return volumeCall(dir, subvolumeCreate, args, args.Name[:], name)
	default:
		args := new(volumeArgs)
		return volumeCall(dir, snapshotDestroy, args, args.Name[:], name)
	}
}

// volumeCall runs a command of a directory on a structure, after it has put a name into it.
func volumeCall(dir *os.File, cmd uintptr, args any, field []byte, name string) error {
	if len(name) >= len(field) { // the last byte ends the name
		return unix.ENAMETOOLONG
	}
	copy(field, name)
	err := ioctl.Do(dir, cmd, args)
	runtime.KeepAlive(args)
	return err
}

// subvolumeShift is the place of the number of a subvolume in Entry.Inode. A Btrfs that the
// explorer makes has far fewer inodes.
const subvolumeShift = 40

// InodeIn returns Entry.Inode of an inode of a subvolume of Btrfs. subvolume is its number, or 0
// for the subvolume of the root and for other file systems.
func InodeIn(subvolume, inode uint64) uint64 { return subvolume<<subvolumeShift | inode }

// NumberOf returns the number that an inode has in its subvolume.
func NumberOf(inode uint64) uint64 { return inode & (1<<subvolumeShift - 1) }

// inodes gives the inodes of a tree numbers that are its own: each subvolume of Btrfs numbers its
// inodes from 256 on.
type inodes struct {
	root uint64            // st_dev of the root of the tree, which comes first
	by   map[uint64]uint64 // number of a subvolume by st_dev
}

// entry returns the entry of the file at a path, from its lstat(2). rel is its path from the root.
func (i *inodes) entry(path, rel string) (e Entry, err error) {
	var st unix.Stat_t
	if err := unix.Lstat(path, &st); err != nil {
		return e, err
	}
	if rel == "." {
		i.root, i.by = st.Dev, make(map[uint64]uint64)
	}
	e = entryOf(rel, &st)
	if st.Dev == i.root {
		return e, nil
	}
	if _, is := i.by[st.Dev]; !is {
		i.by[st.Dev], err = subvolumeOf(path)
		if errors.Is(err, unix.ENOTTY) || errors.Is(err, unix.ENOTDIR) { // another file system
			err = nil
		}
	}
	e.Inode = InodeIn(i.by[st.Dev], e.Inode)
	return e, err
}

// Inodes of Btrfs: the root directory of a subvolume (BTRFS_FIRST_FREE_OBJECTID), and what a
// snapshot shows in the place of a subvolume (BTRFS_EMPTY_SUBVOL_DIR_OBJECTID).
const firstFree, emptySubvolume = 256, 2

// subvolumeOf returns the number of the subvolume in which a directory is (BTRFS_IOC_INO_LOOKUP).
// On the disk it stays the same for ever.
func subvolumeOf(path string) (uint64, error) {
	dir, err := os.OpenFile(path, unix.O_RDONLY|unix.O_DIRECTORY|unix.O_NOATIME, 0)
	if err != nil {
		return 0, err
	}
	defer dir.Close()
	args := &lookupArgs{ObjectID: firstFree}
	err = ioctl.Do(dir, inodeLookup, args)
	return args.TreeID, err
}
