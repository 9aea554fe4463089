package model

import "golang.org/x/sys/unix"

// fallocateMode returns the error that vfs_fallocate returns for a mode before it looks at the file
// (fs/open.c).
func fallocateMode(mode int) unix.Errno {
	const keep = unix.FALLOC_FL_KEEP_SIZE
	switch mode {
	case 0, keep, unix.FALLOC_FL_PUNCH_HOLE | keep, unix.FALLOC_FL_ZERO_RANGE,
		unix.FALLOC_FL_ZERO_RANGE | keep, unix.FALLOC_FL_COLLAPSE_RANGE, unix.FALLOC_FL_INSERT_RANGE:
		return 0
	}
	return unix.EOPNOTSUPP
}

// fallocate is fallocate(2): it reserves space, extends the file, punches a hole, writes zeros, or
// removes or inserts a range.
func (n *inode) fallocate(s *file, o Op, p Promises, now int) unix.Errno {
	if int64(o.Off) < 0 || int64(o.Len) <= 0 {
		return unix.EINVAL
	}
	if errno := fallocateMode(o.Flags); errno != 0 {
		return errno
	}
	switch {
	case !s.writable():
		return unix.EBADF
	case n.isAppendOnly() && o.Flags&^unix.FALLOC_FL_KEEP_SIZE != 0:
		return unix.EPERM
	case n.isFIFO():
		return unix.ESPIPE
	}
	if n.kind == File {
		n.touch(now, anyTime) // also if it fails: ext4_fallocate calls file_modified first
	}
	const shift = unix.FALLOC_FL_COLLAPSE_RANGE | unix.FALLOC_FL_INSERT_RANGE
	var missing bool
	switch {
	case o.Flags&unix.FALLOC_FL_PUNCH_HOLE != 0:
		missing = p.NoPunch
	case o.Flags&unix.FALLOC_FL_ZERO_RANGE != 0:
		missing = !p.Has(ZeroRange)
	case o.Flags&shift != 0:
		missing = !p.Has(Shift)
	default:
		missing = p.NoFallocate
	}
	c := n.data.now()
	switch {
	case missing:
		return unix.EOPNOTSUPP
	case o.Flags&unix.FALLOC_FL_COLLAPSE_RANGE != 0 && o.Off+o.Len >= c.size,
		o.Flags&unix.FALLOC_FL_INSERT_RANGE != 0 && o.Off >= c.size,
		o.Flags&shift != 0 && (o.Off%Block != 0 || o.Len%Block != 0):
		return unix.EINVAL
	}
	// The journal orders changes of space and size. No source says so of the data that moves.
	n.setContent(c.allocated(o), now, o.Flags&shift == 0)
	n.most = max(n.most, o.Off+o.Len)
	if o.Flags&shift == 0 {
		n.data[len(n.data)-1].by = o.allocation()
	}
	return 0
}

// allocation returns the range of fallocate(2). The size on the disk may then be the end of the
// range, even if writes have made the file larger that are not on the disk: ext4 sets i_disksize,
// for holes and zeros also with FALLOC_FL_KEEP_SIZE (ext4_update_disksize_before_punch,
// fs/ext4/inode.c; ext4_zero_range, fs/ext4/extents.c).
func (o Op) allocation() allocation {
	a := allocation{off: o.Off, end: o.Off + o.Len}
	if o.Flags != unix.FALLOC_FL_KEEP_SIZE {
		a.reach = a.end
	}
	return a
}

// allocated returns the content after fallocate(2).
func (c content) allocated(o Op) content {
	stop := o.Off + o.Len
	switch {
	case o.Flags&unix.FALLOC_FL_COLLAPSE_RANGE != 0:
		return c.collapse(o.Off, o.Len)
	case o.Flags&unix.FALLOC_FL_INSERT_RANGE != 0:
		return c.insert(o.Off, o.Len)
	}
	if o.Flags&(unix.FALLOC_FL_PUNCH_HOLE|unix.FALLOC_FL_ZERO_RANGE) != 0 {
		c = c.clear(o.Off, min(stop, c.size))
	}
	if o.Flags&unix.FALLOC_FL_KEEP_SIZE == 0 && stop > c.size {
		c = c.truncate(stop)
	}
	return c
}

// isFIFO reports whether an inode is a FIFO.
func (n *inode) isFIFO() bool { return n.kind == Special && n.node.typ == unix.S_IFIFO }

// fiemap performs Fiemap. Data is in extents that are written: of the others "the extent's data
// will be all zero if read through the filesystem" (Documentation/filesystems/fiemap.rst).
func fiemap(t *tree, path string, can bool) unix.Errno {
	i, errno := t.find(path, false)
	switch {
	case errno != 0:
		return errno
	case t.inodes[i].kind != File:
		return unix.EINVAL
	case !can:
		return unix.EOPNOTSUPP
	}
	return 0
}
