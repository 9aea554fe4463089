package model

import (
	"cmp"

	"golang.org/x/sys/unix"

	"fsward/explore/agent"
)

// btrfsFlags are the flags of which the model knows what they do in Btrfs.
const btrfsFlags = agent.Compressed | agent.NoCOW

// setFlags performs Setflags on a file or a directory. Btrfs refuses one that is compressed and not
// copied on write, also from one to the other (check_fsflags in fs/btrfs/ioctl.c). It changes NoCOW
// of a directory and of an empty file only.
func (v *volume) setFlags(o Op) Result {
	i, errno := v.tree.find(o.Path, false)
	if errno != 0 {
		return Result{Errno: errno}
	}
	n := v.tree.inodes[i]
	a := n.attrs.now()
	flags := uint32(o.Flags)
	both := func(a, b uint32) bool { return a&agent.Compressed != 0 && b&agent.NoCOW != 0 }
	switch {
	case flags&^agent.KnownFlags != 0:
		return Result{Errno: unix.EINVAL}
	case n.kind != File && n.kind != Dir:
		return Result{Errno: unix.EOPNOTSUPP}
	case !v.promises.Has(FileFlags):
		return Result{Errno: unix.ENOTTY}
	case v.tree.isReadOnly(i):
		return Result{Errno: unix.EROFS}
	case both(flags, flags), both(flags, a.flags), both(a.flags, flags):
		return Result{Errno: unix.EINVAL}
	}
	if n.kind == File && n.data.now().size > 0 {
		flags = flags&^agent.NoCOW | a.flags&agent.NoCOW
	}
	a.flags = flags // a subvolume that can be written has no others
	n.setAttrs(a, v.now)
	return Result{Value: uint64(flags)}
}

// inheritedFlags returns the flags that a new file or directory gets from those of its directory,
// and by a mount option. Btrfs gives it those of compression and of copying on write
// (btrfs_inherit_iflags), ext2, ext3, ext4, F2FS and XFS the others (EXT4_FL_INHERITED,
// F2FS_FL_INHERITED, xfs_inode_inherit_flags).
func (v *volume) inheritedFlags(k Kind, dir uint32) uint32 {
	passed := ^uint32(btrfsFlags | agent.Forbidding)
	if v.promises.Has(Subvolumes) {
		passed = btrfsFlags
	}
	switch k {
	case File:
		return dir&passed | v.promises.NewFileFlags
	case Dir:
		return dir & passed
	}
	return 0
}

// inheritCompression gives a new subvolume in a directory the compression of the root directory of
// the subvolume in which that is: a property, and no flag of the directory itself
// (btrfs_inode_inherit_props).
func (v *volume) inheritCompression(n *inode, dir int) {
	top := v.tree.inodes[cmp.Or(v.tree.inodes[dir].volume, root)]
	a := n.attrs.now()
	a.flags = top.attrs.now().flags & agent.Compressed
	n.attrs.set(v.now, a)
}

// Flags returns agent.Entry.Flags of the file or directory at a path; 0 if there is none.
func (v *volume) Flags(path string) uint32 {
	i, errno := v.tree.find(path, false)
	if errno != 0 {
		return 0
	}
	return v.tree.inodes[i].attrs.now().flags
}

// isNoCOW reports whether Btrfs keeps no checksums of the data of a file. It does not share such
// data with other files (btrfs_remap_file_range_prep).
func (n *inode) isNoCOW() bool { return n.attrs.now().flags&agent.NoCOW != 0 }

// isSynchronous reports whether each write to a file is as one through O_SYNC (iocb_flags).
func (n *inode) isSynchronous() bool { return n.attrs.now().flags&agent.Synchronous != 0 }
