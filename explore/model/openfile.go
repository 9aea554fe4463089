package model

import (
	"golang.org/x/sys/unix"

	"fsward/explore/agent"
)

// open is open(2), in the order of path_openat and do_open (fs/namei.c).
func (f *FS) open(o Op) unix.Errno {
	slot := &f.files[o.Slot%agent.MaxSlots]
	f.close(slot)
	const known = unix.O_ACCMODE | unix.O_CREAT | unix.O_EXCL | unix.O_TRUNC |
		unix.O_DIRECTORY | unix.O_NOFOLLOW | unix.O_SYNC
	if o.Flags&^known != 0 || o.Flags&unix.O_CREAT != 0 && o.Flags&unix.O_DIRECTORY != 0 {
		return unix.EINVAL
	}
	w, errno := f.tree.parent(o.Path)
	if errno != 0 {
		return errno
	}
	const exclusive = unix.O_CREAT | unix.O_EXCL
	follow := o.Flags&unix.O_NOFOLLOW == 0 && o.Flags&exclusive != exclusive
	i, errno := f.tree.reach(&w, follow)
	create := o.Flags&unix.O_CREAT != 0
	switch {
	case w.dir == 0:
		return errno
	case create && w.special():
		return unix.EISDIR
	}
	if errno == unix.ENOENT && create {
		i, _ = f.create(File, o.Mode&0o777)
		f.setName(w.dir, w.name, i)
	} else {
		if errno != 0 {
			return errno
		}
		if errno = f.tree.inodes[i].openable(o.Flags); errno != 0 {
			return errno
		}
		if o.Flags&unix.O_TRUNC != 0 && f.tree.inodes[i].kind == File {
			f.tree.inodes[i].resize(0, f.now)
		}
	}
	f.tree.inodes[i].open++
	*slot = file{i, o.Flags}
	return 0
}

// openable returns the error of opening an existing inode with these flags, as do_open and may_open
// do (fs/namei.c).
func (n *inode) openable(flags int) unix.Errno {
	create := flags&unix.O_CREAT != 0
	switch {
	case create && flags&unix.O_EXCL != 0:
		return unix.EEXIST
	case create && n.kind == Dir:
		return unix.EISDIR
	case flags&unix.O_DIRECTORY != 0 && n.kind != Dir:
		return unix.ENOTDIR
	case n.kind == Symbolic:
		return unix.ELOOP
	case n.kind == Dir && (flags&unix.O_ACCMODE != unix.O_RDONLY || flags&unix.O_TRUNC != 0):
		return unix.EISDIR
	}
	return 0
}

func (f *FS) close(s *file) {
	if s.inode != 0 {
		f.tree.inodes[s.inode].open--
	}
	*s = file{}
}

// CloseAll closes all open files, as an agent does at the end of a batch.
func (f *FS) CloseAll() {
	for i := range f.files {
		f.close(&f.files[i])
	}
}

const writable = unix.O_WRONLY | unix.O_RDWR

// onFile performs an operation on an open file.
func (f *FS) onFile(o Op) (r Result) {
	slot := &f.files[o.Slot%agent.MaxSlots]
	if slot.inode == 0 {
		return Result{Errno: unix.EBADF}
	}
	n := f.tree.inodes[slot.inode]
	write := slot.flags&writable != 0
	switch o.Code {
	case Close:
		f.close(slot)
	case Fsync, Fdatasync:
		f.fsync(slot.inode, o.Code == Fdatasync)
	case Syncfs:
		f.Synced()
	case Read:
		switch {
		case int64(o.Off) < 0:
			r.Errno = unix.EINVAL
		case slot.flags&unix.O_ACCMODE == unix.O_WRONLY:
			r.Errno = unix.EBADF
		case n.kind == Dir:
			r.Errno = unix.EISDIR
		default:
			c := n.data.now()
			b := make([]byte, min(o.Len, c.size-min(c.size, o.Off)))
			c.read(b, o.Off)
			r.Data = string(b)
		}
	case Ftruncate:
		if !write || int64(o.Len) < 0 {
			return Result{Errno: unix.EINVAL}
		}
		n.resize(o.Len, f.now)
	case Write:
		r = f.write(slot, n, o)
	case Fallocate:
		if !write && int64(o.Off) >= 0 && int64(o.Len) > 0 && fallocateMode(o.Flags) == 0 {
			return Result{Errno: unix.EBADF}
		}
		r.Errno = f.fallocate(n, o)
	}
	return r
}

// write is pwrite(2). Through O_SYNC and O_DSYNC, and with -o sync, it is followed by an fsync.
func (f *FS) write(slot *file, n *inode, o Op) Result {
	switch {
	case int64(o.Off) < 0:
		return Result{Errno: unix.EINVAL}
	case slot.flags&writable == 0:
		return Result{Errno: unix.EBADF}
	case o.Len == 0:
		return Result{}
	}
	old := n.data.now()
	c := old.write(o.Off, o.Len, o.Seed)
	n.data.set(f.now, c)
	// If the size stays, only the time changes, and at most once a tick (inode_needs_update_time).
	if c.size != old.size {
		n.changed, n.sized = f.now, f.now
	}
	switch {
	case f.promises.Sync, slot.flags&unix.O_SYNC == unix.O_SYNC:
		f.fsync(slot.inode, false)
	case slot.flags&unix.O_DSYNC != 0:
		f.fsync(slot.inode, true)
	}
	return Result{Value: o.Len}
}

// fallocateMode returns the error that vfs_fallocate returns for a mode before it looks at the file
// (fs/open.c).
func fallocateMode(mode int) unix.Errno {
	switch mode {
	case 0, unix.FALLOC_FL_KEEP_SIZE, unix.FALLOC_FL_PUNCH_HOLE | unix.FALLOC_FL_KEEP_SIZE:
		return 0
	}
	return unix.EOPNOTSUPP
}

// fallocate is fallocate(2): it reserves space, extends the file or punches a hole.
func (f *FS) fallocate(n *inode, o Op) unix.Errno {
	if int64(o.Off) < 0 || int64(o.Len) <= 0 {
		return unix.EINVAL
	}
	if errno := fallocateMode(o.Flags); errno != 0 {
		return errno
	}
	punch := o.Flags&unix.FALLOC_FL_PUNCH_HOLE != 0
	if punch && f.promises.NoPunch || !punch && f.promises.NoFallocate {
		return unix.EOPNOTSUPP
	}
	c := n.data.now()
	stop := o.Off + o.Len
	switch {
	case punch:
		c = c.clear(o.Off, min(stop, c.size))
	case o.Flags&unix.FALLOC_FL_KEEP_SIZE == 0 && stop > c.size:
		c = c.truncate(stop)
	}
	if n.data.now().size != c.size {
		n.changed, n.sized = f.now, f.now
	}
	n.data = append(n.data, version[content]{f.now, c, true})
	return 0
}
