package model

import (
	"golang.org/x/sys/unix"

	"fsward/explore/agent"
)

// openFlagsKnown are the flags of open(2) that the model knows. With O_APPEND, which ignores the
// offset of a write, the offset must be the end of the file.
const openFlagsKnown = unix.O_ACCMODE | unix.O_CREAT | unix.O_EXCL | unix.O_TRUNC | unix.O_APPEND |
	unix.O_DIRECTORY | unix.O_NOFOLLOW | unix.O_SYNC | unix.O_TMPFILE

// open is open(2), in the order of path_openat and do_open (fs/namei.c).
func (v *volume) open(o Op) unix.Errno {
	v.files.close(&v.tree, o.Slot)
	if o.Flags&^openFlagsKnown != 0 || o.Flags&unix.O_CREAT != 0 && o.Flags&unix.O_DIRECTORY != 0 {
		return unix.EINVAL
	}
	if o.Flags&unix.O_TMPFILE == unix.O_TMPFILE {
		return v.openTmpfile(o)
	}
	w, errno := v.tree.parent(o.Path)
	if errno != 0 {
		return errno
	}
	const exclusive = unix.O_CREAT | unix.O_EXCL
	follow := o.Flags&unix.O_NOFOLLOW == 0 && o.Flags&exclusive != exclusive
	i, errno := v.tree.reach(&w, follow)
	create := o.Flags&unix.O_CREAT != 0
	switch {
	case w.dir == 0:
		return errno
	case create && w.special() && o.Flags&unix.O_EXCL != 0:
		return unix.EEXIST
	case create && w.special():
		return unix.EISDIR
	}
	if errno == unix.ENOENT && create {
		if errno = v.tree.mayWrite(w.dir); errno != 0 {
			return errno
		}
		i, _ = v.create(w.dir, File, o.Mode&0o777)
		v.setName(w.dir, w.name, i)
	} else {
		if errno != 0 {
			return errno
		}
		if errno = v.tree.inodes[i].openable(o.Flags, v.files.readers(i)); errno == 0 {
			errno = v.tree.mayOpen(i, o.Flags)
		}
		if errno != 0 {
			return errno
		}
		if o.Flags&unix.O_TRUNC != 0 && v.tree.inodes[i].kind == File {
			v.tree.inodes[i].resize(0, v.now)
		}
	}
	v.files.open(&v.tree, o.Slot, i, o.Flags)
	return 0
}

// openTmpfile is open(2) with O_TMPFILE: it makes a file without a name (do_tmpfile, fs/namei.c).
func (v *volume) openTmpfile(o Op) unix.Errno {
	if o.Flags&unix.O_ACCMODE == unix.O_RDONLY {
		return unix.EINVAL
	}
	d, errno := v.tree.find(o.Path, o.Flags&unix.O_NOFOLLOW == 0)
	switch {
	case errno != 0:
		return errno
	case v.tree.inodes[d].kind != Dir:
		return unix.ENOTDIR
	case v.tree.mayWrite(d) != 0:
		return v.tree.mayWrite(d)
	case !v.promises.Has(Tmpfile):
		return unix.EOPNOTSUPP
	}
	i, n := v.create(d, File, o.Mode&0o777)
	n.linkable = o.Flags&unix.O_EXCL == 0
	v.files.open(&v.tree, o.Slot, i, o.Flags)
	return 0
}

// openable returns the error of opening an existing inode with these flags, as do_open and may_open
// do (fs/namei.c). read reports whether somebody has opened it for reading.
func (n *inode) openable(flags int, read bool) unix.Errno {
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
	case n.isFIFO() && flags&unix.O_ACCMODE == unix.O_WRONLY && !read,
		n.kind == Special && !n.isFIFO(): // a socket, or a device without a driver
		return unix.ENXIO
	}
	return 0
}

// onFile performs an operation on an open file.
func (v *volume) onFile(o Op) (r Result) {
	slot := v.files.at(o.Slot)
	if slot.inode == 0 {
		return Result{Errno: unix.EBADF}
	}
	n := v.tree.inodes[slot.inode]
	switch o.Code {
	case Close:
		v.files.close(&v.tree, o.Slot)
	case Fsync, Fdatasync:
		if n.isFIFO() || n.kind == Dir && v.promises.NoDirFsync {
			return Result{Errno: unix.EINVAL}
		}
		v.fsync(slot.inode, o.Code == Fdatasync)
	case Syncfs:
		v.disk.syncCall(&v.tree, v.now)
	case SyncFileRange:
		r.Errno = n.syncFileRange(o)
	case Msync:
		if r.Errno = n.mappable(slot, o); r.Errno == 0 && !v.disk.volatile {
			v.disk.msync(n, o.Off, o.Off+o.Len, v.now)
		}
	case Read:
		return slot.read(n, o)
	case Ftruncate:
		if !slot.writable() || int64(o.Len) < 0 || n.kind != File {
			return Result{Errno: unix.EINVAL}
		}
		if n.isAppendOnly() {
			return Result{Errno: unix.EPERM}
		}
		n.resize(o.Len, v.now)
	case Write, Dwrite, Dwrites, Mmapwrite:
		return v.write(slot, n, o)
	case Mmaptail:
		r.Errno = n.mmaptail(slot, o, v.now)
	case Fallocate:
		r.Errno = n.fallocate(slot, o, v.promises, v.now)
	case Clone:
		return v.clone(slot, n, o)
	case Dedupe:
		return v.dedupe(n, o)
	case Linkat:
		r.Errno = v.linkat(slot.inode, o.To)
	}
	return r
}

// read is pread(2).
func (s *file) read(n *inode, o Op) (r Result) {
	switch {
	case int64(o.Off) < 0:
		r.Errno = unix.EINVAL
	case n.isFIFO():
		r.Errno = unix.ESPIPE
	case !s.readable():
		r.Errno = unix.EBADF
	case n.kind == Dir:
		r.Errno = unix.EISDIR
	default:
		c := n.data.now()
		b := make([]byte, min(o.Len, c.size-min(c.size, o.Off)))
		c.read(b, o.Off)
		r.Data = string(b)
	}
	return r
}

// write is pwrite(2), also with O_DIRECT, or a write through a mapping. Through O_SYNC and O_DSYNC,
// and with -o sync, pwrite makes what it wrote durable.
func (v *volume) write(slot *file, n *inode, o Op) Result {
	if errno := v.writable(slot, n, o); errno != 0 || o.Len == 0 {
		return Result{Errno: errno}
	}
	old := n.data.now()
	c := old.write(o.Off, o.Len, o.Seed)
	n.data.set(v.now, c)
	n.most = max(n.most, c.size)
	mtime := presentTime
	if o.Code == Mmapwrite { // a write to a page that is mapped and dirty is not seen
		mtime = anyTime
	} else {
		n.markModified(v.now)
	}
	n.touch(v.now, mtime)
	// If the size stays, only the time changes, and at most once a tick (inode_needs_update_time).
	if c.size != old.size {
		n.changed, n.sized = v.now, v.now
	}
	switch {
	case o.Code == Mmapwrite:
		return Result{}
	case v.promises.Sync, slot.flags&unix.O_SYNC == unix.O_SYNC, n.isSynchronous():
		v.disk.synced(&v.tree, slot.inode, o, v.now, false)
	case slot.flags&unix.O_DSYNC != 0:
		v.disk.synced(&v.tree, slot.inode, o, v.now, true)
	}
	return Result{Value: o.Len}
}

// Refused records an operation that the kernel refused for lack of space. It may have changed the
// time of modification of its file.
func (f *FS) Refused(o Op) {
	f.now++
	f.log = append(f.log, o)
	if n := f.tree.inodes[f.files.at(o.Slot).inode]; n != nil && n.kind == File {
		n.touch(f.now, anyTime)
	}
}

// writable returns the error of a write.
func (v *volume) writable(slot *file, n *inode, o Op) unix.Errno {
	switch {
	case o.Code == Mmapwrite:
		return n.mappable(slot, o)
	case (o.Code == Dwrite || o.Code == Dwrites) &&
		(n.kind == Dir || n.kind == File && !v.promises.Has(Direct)):
		return unix.EINVAL // F_SETFL refuses O_DIRECT
	case int64(o.Off) < 0:
		return unix.EINVAL
	case n.isFIFO():
		return unix.ESPIPE
	case !slot.writable():
		return unix.EBADF
	}
	return 0
}

// mappable returns the error of a mapped write and of msync(2), as agent.Mmapwrite and agent.Msync
// have it.
func (n *inode) mappable(s *file, o Op) unix.Errno {
	switch {
	case n.kind != File:
		return unix.ENODEV
	case o.Len == 0 || o.Len > agent.MaxData:
		return unix.EINVAL
	case o.Off+o.Len < o.Off || o.Off+o.Len > n.data.now().size:
		return unix.EFAULT
	case !s.readable() || o.Code == Mmapwrite && !s.writable() || s.writable() && n.isAppendOnly():
		return unix.EACCES
	}
	return 0
}

// syncFileRange returns the error of sync_file_range(2) (fs/sync.c). It promises nothing: "This
// system call does not flush disk write caches" (sync_file_range(2)).
func (n *inode) syncFileRange(o Op) unix.Errno {
	const known = unix.SYNC_FILE_RANGE_WAIT_BEFORE | unix.SYNC_FILE_RANGE_WRITE |
		unix.SYNC_FILE_RANGE_WAIT_AFTER
	switch {
	case o.Flags&^known != 0, int64(o.Off) < 0, int64(o.Off+o.Len) < int64(o.Off):
		return unix.EINVAL
	case n.kind == Special:
		return unix.ESPIPE
	}
	return 0
}

// linkat is linkat(2) of an open file (vfs_link, fs/namei.c).
func (v *volume) linkat(i int, to string) unix.Errno {
	n := v.tree.inodes[i]
	w, errno := v.tree.freeLocation(to)
	if errno == 0 {
		errno = v.tree.mayWrite(w.dir)
	}
	switch {
	case errno != 0:
		return errno
	case v.promises.NoLinks || n.kind == Dir || n.isProtected():
		return unix.EPERM
	case n.links == 0 && !n.linkable:
		return unix.ENOENT
	case n.volume != v.tree.inodes[w.dir].volume:
		return unix.EXDEV
	}
	n.linkable = false
	v.setName(w.dir, w.name, i)
	return 0
}
