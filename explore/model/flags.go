package model

import (
	"golang.org/x/sys/unix"

	"fsward/explore/agent"
)

// btrfsFlags are the flags of which the model knows what they do in Btrfs.
const btrfsFlags = agent.Compressed | agent.NoCOW

// setFlags performs Setflags on a file. Btrfs refuses a file that is compressed and not copied on
// write, also from one to the other (check_fsflags in fs/btrfs/ioctl.c), and changes NoCOW of an
// empty file only.
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
	case n.kind != File:
		return Result{Errno: unix.EOPNOTSUPP}
	case !v.promises.Has(FileFlags):
		return Result{Errno: unix.ENOTTY}
	case both(flags, flags), both(flags, a.flags), both(a.flags, flags):
		return Result{Errno: unix.EINVAL}
	}
	if n.data.now().size > 0 {
		flags = flags&^agent.NoCOW | a.flags&agent.NoCOW
	}
	a.flags = flags
	n.setAttrs(a, v.now)
	return Result{Value: uint64(flags)}
}

// Flags returns those of agent.KnownFlags that the file at a path has; 0 if there is none.
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
