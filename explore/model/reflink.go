package model

import (
	"bytes"

	"golang.org/x/sys/unix"
)

// clone is ioctl_ficlonerange(2), in the order of vfs_clone_file_range (fs/remap_range.c).
func (v *volume) clone(to *file, n *inode, o Op) Result {
	source := v.files.at(o.From)
	from := v.tree.inodes[source.inode]
	switch {
	case from == nil:
		return Result{Errno: unix.EBADF}
	case n.kind == Dir || from.kind == Dir:
		return Result{Errno: unix.EISDIR}
	case n.kind != File || from.kind != File:
		return Result{Errno: unix.EINVAL}
	case !source.readable() || !to.writable():
		return Result{Errno: unix.EBADF}
	case !v.promises.Has(Reflink):
		return Result{Errno: unix.EOPNOTSUPP}
	case !o.aligned() || o.FromOff+o.Len > from.data.now().size || o.overlaps(n == from) ||
		n.isNoCOW() != from.isNoCOW():
		return Result{Errno: unix.EINVAL}
	}
	c := n.data.now().clone(o.Off, from.data.now(), o.FromOff, o.Len)
	n.touch(v.now, anyTime)
	n.setContent(c, v.now, false)
	// vfs_fsync_range (generic_remap_file_range)
	if to.flags&unix.O_DSYNC != 0 || v.promises.Sync || n.isSynchronous() {
		v.disk.synced(&v.tree, to.inode, o, v.now,
			to.flags&unix.O_SYNC != unix.O_SYNC && !v.promises.Sync)
	}
	return Result{}
}

// dedupe is ioctl_fideduperange(2), in the order of vfs_dedupe_file_range (fs/remap_range.c). It
// changes no content.
func (v *volume) dedupe(n *inode, o Op) Result {
	source := v.files.at(o.From)
	from := v.tree.inodes[source.inode]
	switch {
	case from == nil:
		return Result{Errno: unix.EBADF}
	case !source.readable():
		return Result{Errno: unix.EINVAL}
	case from.kind == Dir:
		return Result{Errno: unix.EISDIR}
	case from.kind != File:
		return Result{Errno: unix.EINVAL}
	case !v.promises.Has(Reflink):
		return Result{Errno: unix.EOPNOTSUPP}
	case o.FromOff+o.Len > from.data.now().size:
		return Result{Errno: unix.EINVAL}
	case n.kind == Dir:
		return Result{Errno: unix.EISDIR}
	case n.isImmutable() && n.isNoCOW() == from.isNoCOW(): // generic_remap_file_range_prep
		return Result{Errno: unix.EPERM}
	case n.kind != File || !o.aligned() || o.Off+o.Len > n.data.now().size ||
		o.overlaps(n == from) || n.isNoCOW() != from.isNoCOW():
		return Result{Errno: unix.EINVAL}
	}
	a, b := make([]byte, o.Len), make([]byte, o.Len)
	from.data.now().read(a, o.FromOff)
	n.data.now().read(b, o.Off)
	if !bytes.Equal(a, b) {
		return Result{}
	}
	return Result{Value: o.Len}
}

// aligned reports whether the ranges of a Clone or Dedupe consist of whole blocks. The model knows
// no others.
func (o Op) aligned() bool { return o.Len > 0 && (o.Off|o.FromOff|o.Len)%Block == 0 }

// overlaps reports whether the ranges of a Clone or Dedupe overlap, if they are in the same file.
func (o Op) overlaps(same bool) bool {
	return same && o.Off < o.FromOff+o.Len && o.FromOff < o.Off+o.Len
}
