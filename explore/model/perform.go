package model

import "golang.org/x/sys/unix"

// perform performs an operation. The errors are those of Linux for root, in the order in which
// fs/namei.c, fs/open.c and fs/xattr.c check for them.
func (v *volume) perform(o Op) (r Result) {
	switch o.Code {
	case Mkdir, Symlink, Link, Mknod:
		r.Errno = v.add(o)
	case Rmdir, Unlink:
		r.Errno = v.remove(o)
	case Rename:
		r.Errno = v.rename(o)
	case Setflags:
		r = v.setFlags(o)
	case Fiemap:
		r.Errno = fiemap(&v.tree, o.Path, v.promises.Has(FileExtents))
	case Subvolume, Snapshot, DeleteSubvolume, SetReadOnly:
		r.Errno = v.subvolumes(o)
	case Readlink:
		r = v.tree.readlink(o.Path)
	case Chmod, Chown:
		r.Errno = v.setAttributes(o)
	case Utimes:
		r = v.utimes(o)
	case Setxattr, Getxattr, Removexattr:
		r = v.xattr(o)
	case Readdir:
		r = v.tree.readdir(o.Path)
	case Truncate:
		r.Errno = v.tree.truncate(o, v.now)
	case Open:
		r.Errno = v.open(o)
	case Sync:
		v.disk.syncCall(&v.tree, v.now)
	case DropCaches, Writeback, FillDisk, FreeDisk, FillInodes, FreeInodes:
	default:
		if o.onSlot() {
			return v.onFile(o)
		}
		r.Errno = unix.ENOSYS
	}
	return r
}

// truncate performs Truncate.
func (t *tree) truncate(o Op, now int) unix.Errno {
	i, errno := t.find(o.Path, true)
	switch {
	case int64(o.Len) < 0:
		return unix.EINVAL
	case errno != 0:
		return errno
	case t.inodes[i].kind == Dir:
		return unix.EISDIR
	case t.inodes[i].kind != File:
		return unix.EINVAL
	}
	if errno := t.mayOpen(i, unix.O_WRONLY); errno != 0 {
		return errno
	}
	t.inodes[i].resize(o.Len, now)
	return 0
}

// add performs Mkdir, Symlink, Link and Mknod.
func (v *volume) add(o Op) unix.Errno {
	made := o.Path // the new name
	var old int    // the inode to link
	if o.Code == Link {
		made = o.To
	}
	switch o.Code {
	case Link:
		i, errno := v.tree.find(o.Path, false)
		if errno != 0 {
			return errno
		}
		old = i
	case Symlink:
		if o.To == "" {
			return unix.ENOENT
		}
	}
	w, errno := v.tree.freeLocation(made)
	if errno == 0 {
		errno = v.tree.mayWrite(w.dir)
	}
	if errno != 0 {
		return errno
	}
	switch {
	case o.Code == Link && v.tree.inodes[old].isProtected():
		return unix.EPERM
	case o.Code == Mkdir:
		i, _ := v.create(w.dir, Dir, o.Mode&0o777)
		v.setName(w.dir, w.name, i)
	case o.Code == Symlink && v.promises.NoSymlinks,
		o.Code == Mknod && !v.promises.Has(Nodes),
		o.Code == Link && (v.promises.NoLinks || v.tree.inodes[old].kind == Dir):
		return unix.EPERM
	case o.Code == Link && v.tree.inodes[old].volume != v.tree.inodes[w.dir].volume:
		return unix.EXDEV
	case o.Code == Symlink:
		i, n := v.create(w.dir, Symbolic, 0o777)
		n.target = o.To
		v.setName(w.dir, w.name, i)
	case o.Code == Mknod:
		v.setName(w.dir, w.name, v.mknod(w.dir, o.Mode, o.Dev))
	default:
		v.setName(w.dir, w.name, old)
		v.tree.inodes[old].ctimeAt = v.now
	}
	return 0
}

// mknod makes a special file for a directory, without a name.
func (v *volume) mknod(dir int, mode uint32, dev uint64) int {
	i, n := v.create(dir, Special, mode&0o777)
	n.node.typ = mode & unix.S_IFMT
	if n.node.typ == unix.S_IFCHR || n.node.typ == unix.S_IFBLK {
		n.node.dev = dev
	}
	return i
}

// remove performs Rmdir and Unlink.
func (v *volume) remove(o Op) unix.Errno {
	w, errno := v.tree.parent(o.Path)
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
	i, errno := v.tree.step(w, false, &links)
	if errno == 0 {
		errno = v.tree.mayDelete(w.dir, i)
	}
	if errno != 0 {
		return errno
	}
	n := v.tree.inodes[i]
	switch {
	case o.Code == Unlink && n.kind == Dir:
		return unix.EISDIR
	case o.Code == Rmdir && n.kind != Dir:
		return unix.ENOTDIR
	case o.Code == Rmdir && !n.empty():
		return unix.ENOTEMPTY
	}
	v.setName(w.dir, w.name, 0)
	if n.links > 0 {
		n.ctimeAt = v.now
	}
	return 0
}

// rename is renameat2(2), in the order of do_renameat2 and vfs_rename (fs/namei.c).
func (v *volume) rename(o Op) unix.Errno {
	r := renaming{tree: &v.tree, flags: o.Flags, exchange: o.Flags == unix.RENAME_EXCHANGE}
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
	whiteout := o.Flags&renameWhiteout != 0
	if r.exchange && v.promises.NoExchange || whiteout && !v.promises.Has(Whiteout) {
		return unix.EINVAL
	}
	switch {
	case whiteout: // a character device with the number 0 (WHITEOUT_DEV)
		r.target = v.mknod(noParent, unix.S_IFCHR, 0)
		v.tree.inodes[r.target].volume = v.tree.inodes[r.from.dir].volume
	case !r.exchange:
		r.target = 0
	}
	v.setName(r.from.dir, r.from.name, r.target)
	v.setName(r.to.dir, r.to.name, r.source)
	return 0
}

// setAttributes performs Chmod and Chown.
func (v *volume) setAttributes(o Op) unix.Errno {
	i, errno := v.tree.find(o.Path, o.Code == Chmod)
	if errno == 0 {
		errno = v.tree.maySetAttributes(i)
	}
	if errno != 0 {
		return errno
	}
	n := v.tree.inodes[i]
	a := n.attrs.now()
	switch {
	case v.promises.NoModes && o.Code == Chmod: // "this is too old behavior" (fat_setattr)
		return 0
	case v.promises.NoModes:
		return unix.EPERM
	case o.Code == Chmod:
		a.mode = o.Mode & 0o777
		if list := accessList(a.xattrs[aclName]); list.valid() {
			a.xattrs = a.withXattr(aclName, string(list.withMode(a.mode)))
		}
	default:
		a.uid, a.gid = o.UID, o.GID
	}
	n.setAttrs(a, v.now)
	return 0
}
