package model

import (
	"maps"
	"slices"
	"strings"

	"golang.org/x/sys/unix"
)

// Apply performs an operation. What fails has no effect. The errors are those of Linux for root, in the order in which
// fs/namei.c, fs/open.c and fs/xattr.c look for them.
func (f *FS) Apply(o Op) (r Result) {
	f.now++
	f.log = append(f.log, o)
	switch o.Code {
	case Mkdir, Symlink, Link:
		r.Errno = f.add(o)
	case Rmdir, Unlink:
		r.Errno = f.remove(o)
	case Rename:
		r.Errno = f.rename(o)
	case Readlink:
		i, errno := f.find(o.Path, false)
		if errno == 0 && f.inodes[i].kind != Symbolic {
			errno = unix.EINVAL
		}
		if r.Errno = errno; errno == 0 {
			r.Data = f.inodes[i].target
		}
	case Chmod, Chown:
		r.Errno = f.setAttributes(o)
	case Setxattr, Getxattr, Removexattr:
		r = f.xattr(o)
	case Readdir:
		r = f.readdir(o)
	case Truncate:
		i, errno := f.find(o.Path, true)
		switch {
		case int64(o.Len) < 0:
			errno = unix.EINVAL
		case errno != 0:
		case f.inodes[i].kind == Dir:
			errno = unix.EISDIR
		default:
			f.resize(f.inodes[i], o.Len)
		}
		r.Errno = errno
	case Open:
		r.Errno = f.open(o)
	case Sync:
		f.Synced()
	case Close, Read, Write, Ftruncate, Fallocate, Fsync, Fdatasync, Syncfs:
		r = f.onFile(o)
	default:
		r.Errno = unix.ENOSYS
	}
	return r
}

func (f *FS) add(o Op) unix.Errno {
	made := o.Path
	var old int
	if o.Code != Mkdir {
		made = o.To
	}
	switch o.Code {
	case Link:
		i, errno := f.find(o.Path, false)
		if errno != 0 {
			return errno
		}
		old = i
	case Symlink: // Path is what is made, To where it leads: symlink(To, Path)
		made = o.Path
		if o.To == "" {
			return unix.ENOENT
		}
	}
	w, errno := f.free(made)
	if errno != 0 {
		return errno
	}
	switch {
	case o.Code == Mkdir:
		i, _ := f.create(Dir, o.Mode&0o777)
		f.point(w.dir, w.name, i)
	case o.Code == Symlink && f.can.NoSymlinks, o.Code == Link && (f.can.NoLinks || f.inodes[old].kind == Dir):
		return unix.EPERM
	case o.Code == Symlink:
		i, n := f.create(Symbolic, 0o777)
		n.target = o.To
		f.point(w.dir, w.name, i)
	default:
		f.point(w.dir, w.name, old)
	}
	return 0
}

func (f *FS) remove(o Op) unix.Errno {
	w, errno := f.parent(o.Path)
	if errno != 0 {
		return errno
	}
	if w.special() {
		switch {
		case o.Code == Unlink:
			return unix.EISDIR
		case w.name == ".":
			return unix.EINVAL
		case w.name == "..":
			return unix.ENOTEMPTY
		}
		return unix.EBUSY
	}
	links := 0
	i, errno := f.step(w, false, &links)
	if errno != 0 {
		return errno
	}
	n := f.inodes[i]
	switch {
	case o.Code == Unlink && n.kind == Dir:
		return unix.EISDIR
	case o.Code == Rmdir && n.kind != Dir:
		return unix.ENOTDIR
	case o.Code == Rmdir && !n.empty():
		return unix.ENOTEMPTY
	}
	n.gone = o.Code == Rmdir
	f.point(w.dir, w.name, 0)
	return 0
}

// rename is do_renameat2 and vfs_rename (fs/namei.c).
func (f *FS) rename(o Op) unix.Errno {
	if o.Flags&^(unix.RENAME_NOREPLACE|unix.RENAME_EXCHANGE) != 0 || o.Flags == unix.RENAME_NOREPLACE|unix.RENAME_EXCHANGE {
		return unix.EINVAL
	}
	from, errno := f.parent(o.Path)
	if errno != 0 {
		return errno
	}
	to, errno := f.parent(o.To)
	if errno != 0 {
		return errno
	}
	exchange := o.Flags == unix.RENAME_EXCHANGE
	switch {
	case from.name == "" || to.name == "": // where it is mounted belongs to another file system
		return unix.EXDEV
	case from.special():
		return unix.EBUSY
	case to.special() && o.Flags == unix.RENAME_NOREPLACE:
		return unix.EEXIST
	case to.special():
		return unix.EBUSY
	}
	links := 0
	source, errno := f.step(from, false, &links)
	if errno != 0 {
		return errno
	}
	target, errno := f.step(to, false, &links)
	if errno != 0 && errno != unix.ENOENT {
		return errno
	}
	switch {
	case target != 0 && o.Flags == unix.RENAME_NOREPLACE:
		return unix.EEXIST
	case target == 0 && exchange:
		return unix.ENOENT
	case f.above(source, to.dir):
		return unix.EINVAL
	case target != 0 && f.above(target, from.dir) && exchange:
		return unix.EINVAL
	case target != 0 && f.above(target, from.dir):
		return unix.ENOTEMPTY
	case source == target:
		return 0
	}
	isDir := f.inodes[source].kind == Dir
	if t := f.inodes[target]; t != nil && !exchange {
		switch {
		case isDir && t.kind != Dir:
			return unix.ENOTDIR
		case !isDir && t.kind == Dir:
			return unix.EISDIR
		case isDir && !t.empty():
			return unix.ENOTEMPTY
		}
	}
	if exchange && f.can.NoExchange {
		return unix.EINVAL
	}
	if !exchange {
		if t := f.inodes[target]; t != nil && t.kind == Dir {
			t.gone = true
		}
		target = 0
	}
	f.point(from.dir, from.name, target)
	f.point(to.dir, to.name, source)
	return 0
}

// above says whether a directory is another one or above it.
func (f *FS) above(i, d int) bool {
	for ; d != i; d = f.inodes[d].parent {
		if d == root {
			return false
		}
	}
	return true
}

func (f *FS) setAttributes(o Op) unix.Errno {
	i, errno := f.find(o.Path, o.Code == Chmod)
	if errno != 0 {
		return errno
	}
	n := f.inodes[i]
	a := n.attrs.now()
	switch {
	case f.can.NoModes:
		return unix.EPERM
	case o.Code == Chmod:
		a.mode = o.Mode & 0o777
	default:
		a.uid, a.gid = o.UID, o.GID
	}
	f.describe(n, a)
	return 0
}

// describe changes attributes. Where nothing changes, the inode need not be written (ext4_xattr_set_handle), and keeps nothing else.
func (f *FS) describe(n *inode, a attrs) {
	if was := n.attrs.now(); was.mode == a.mode && was.uid == a.uid && was.gid == a.gid && maps.Equal(was.xattrs, a.xattrs) {
		return
	}
	n.changed = f.now
	n.attrs.set(f.now, a)
}

// xattr is fs/xattr.c; only names of users (xattr_permission).
func (f *FS) xattr(o Op) (r Result) {
	i, errno := f.find(o.Path, false)
	if errno != 0 {
		return Result{Errno: errno}
	}
	n := f.inodes[i]
	a := n.attrs.now()
	value, is := a.xattrs[o.Name]
	switch {
	case o.Name == "" || len(o.Name) > 255: // XATTR_NAME_MAX
		r.Errno = unix.ERANGE
	case !strings.HasPrefix(o.Name, "user.") || o.Name == "user." || f.can.NoXattrs:
		r.Errno = unix.EOPNOTSUPP
	case n.kind == Symbolic && o.Code == Getxattr:
		r.Errno = unix.ENODATA
	case n.kind == Symbolic:
		r.Errno = unix.EPERM
	case !is && (o.Code != Setxattr || o.Flags == unix.XATTR_REPLACE):
		r.Errno = unix.ENODATA
	case is && o.Code == Setxattr && o.Flags == unix.XATTR_CREATE:
		r.Errno = unix.EEXIST
	}
	if r.Errno != 0 {
		return r
	}
	if o.Code == Getxattr {
		return Result{Data: value}
	}
	x := make(map[string]string, len(a.xattrs)+1)
	maps.Copy(x, a.xattrs)
	delete(x, o.Name)
	if o.Code == Setxattr {
		x[o.Name] = o.Value
	}
	a.xattrs = x
	f.describe(n, a)
	return Result{}
}

func (f *FS) readdir(o Op) Result {
	i, errno := f.find(o.Path, true)
	if errno == 0 && f.inodes[i].kind != Dir {
		errno = unix.ENOTDIR
	}
	if errno != 0 {
		return Result{Errno: errno}
	}
	names := f.inodes[i].current()
	data := strings.Join(names, "\x00")
	if len(names) > 0 {
		data += "\x00"
	}
	return Result{Value: uint64(len(names)), Data: data}
}

// current are the names of a directory, in order.
func (n *inode) current() (out []string) {
	for s, e := range n.names {
		if e.now() != 0 {
			out = append(out, s)
		}
	}
	slices.Sort(out)
	return out
}
