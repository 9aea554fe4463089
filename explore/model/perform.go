package model

import (
	"maps"
	"strings"

	"golang.org/x/sys/unix"
)

// Apply performs an operation. A failed operation has no effect. The errors are those of Linux for
// root, in the order in which fs/namei.c, fs/open.c and fs/xattr.c check for them.
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
		r = f.tree.readlink(o.Path)
	case Chmod, Chown:
		r.Errno = f.setAttributes(o)
	case Setxattr, Getxattr, Removexattr:
		r = f.xattr(o)
	case Readdir:
		r = f.tree.readdir(o.Path)
	case Truncate:
		i, errno := f.tree.find(o.Path, true)
		switch {
		case int64(o.Len) < 0:
			errno = unix.EINVAL
		case errno != 0:
		case f.tree.inodes[i].kind == Dir:
			errno = unix.EISDIR
		default:
			f.tree.inodes[i].resize(o.Len, f.now)
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

// add performs Mkdir, Symlink and Link.
func (f *FS) add(o Op) unix.Errno {
	made := o.Path // the new name
	var old int    // the inode to link
	if o.Code != Mkdir {
		made = o.To
	}
	switch o.Code {
	case Link:
		i, errno := f.tree.find(o.Path, false)
		if errno != 0 {
			return errno
		}
		old = i
	case Symlink: // symlink(To, Path): Path is the new name, To its target
		made = o.Path
		if o.To == "" {
			return unix.ENOENT
		}
	}
	w, errno := f.tree.freeLocation(made)
	if errno != 0 {
		return errno
	}
	switch {
	case o.Code == Mkdir:
		i, _ := f.create(Dir, o.Mode&0o777)
		f.setName(w.dir, w.name, i)
	case o.Code == Symlink && f.promises.NoSymlinks,
		o.Code == Link && (f.promises.NoLinks || f.tree.inodes[old].kind == Dir):
		return unix.EPERM
	case o.Code == Symlink:
		i, n := f.create(Symbolic, 0o777)
		n.target = o.To
		f.setName(w.dir, w.name, i)
	default:
		f.setName(w.dir, w.name, old)
	}
	return 0
}

// remove performs Rmdir and Unlink.
func (f *FS) remove(o Op) unix.Errno {
	w, errno := f.tree.parent(o.Path)
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
	i, errno := f.tree.step(w, false, &links)
	if errno != 0 {
		return errno
	}
	n := f.tree.inodes[i]
	switch {
	case o.Code == Unlink && n.kind == Dir:
		return unix.EISDIR
	case o.Code == Rmdir && n.kind != Dir:
		return unix.ENOTDIR
	case o.Code == Rmdir && !n.empty():
		return unix.ENOTEMPTY
	}
	f.setName(w.dir, w.name, 0)
	return 0
}

// rename is renameat2(2), in the order of do_renameat2 and vfs_rename (fs/namei.c).
func (f *FS) rename(o Op) unix.Errno {
	r := renaming{tree: &f.tree, flags: o.Flags, exchange: o.Flags == unix.RENAME_EXCHANGE}
	if errno := r.places(o.Path, o.To); errno != 0 {
		return errno
	}
	if errno := r.inodes(); errno != 0 {
		return errno
	}
	if r.source == r.target {
		return 0
	}
	if errno := r.replaceable(); errno != 0 {
		return errno
	}
	if r.exchange && f.promises.NoExchange {
		return unix.EINVAL
	}
	if !r.exchange {
		r.target = 0
	}
	f.setName(r.from.dir, r.from.name, r.target)
	f.setName(r.to.dir, r.to.name, r.source)
	return 0
}

// setAttributes performs Chmod and Chown.
func (f *FS) setAttributes(o Op) unix.Errno {
	i, errno := f.tree.find(o.Path, o.Code == Chmod)
	if errno != 0 {
		return errno
	}
	n := f.tree.inodes[i]
	a := n.attrs.now()
	switch {
	case f.promises.NoModes:
		return unix.EPERM
	case o.Code == Chmod:
		a.mode = o.Mode & 0o777
	default:
		a.uid, a.gid = o.UID, o.GID
	}
	n.setAttrs(a, f.now)
	return 0
}

// xattr performs Setxattr, Getxattr and Removexattr, as fs/xattr.c does. It knows only the
// namespace "user." (xattr_permission).
func (f *FS) xattr(o Op) (r Result) {
	i, errno := f.tree.find(o.Path, false)
	if errno != 0 {
		return Result{Errno: errno}
	}
	n := f.tree.inodes[i]
	a := n.attrs.now()
	value, is := a.xattrs[o.Name]
	switch {
	case o.Name == "" || len(o.Name) > 255: // XATTR_NAME_MAX
		r.Errno = unix.ERANGE
	case !strings.HasPrefix(o.Name, "user.") || o.Name == "user." || f.promises.NoXattrs:
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
	n.setAttrs(a, f.now)
	return Result{}
}
