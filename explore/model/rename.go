package model

import "golang.org/x/sys/unix"

// renameWhiteout is RENAME_WHITEOUT: the old name becomes a whiteout, as of an overlay.
const renameWhiteout = 1 << 2

// A renaming is one call of renameat2(2). Its methods check for errors in the order of the kernel.
type renaming struct {
	tree           *tree
	flags          int
	exchange       bool
	from, to       location
	source, target int // inodes; target is 0 if to does not exist
}

// places looks up both locations.
func (r *renaming) places(from, to string) (errno unix.Errno) {
	const known = unix.RENAME_NOREPLACE | unix.RENAME_EXCHANGE | renameWhiteout
	if r.flags&^known != 0 || r.flags&unix.RENAME_EXCHANGE != 0 && !r.exchange {
		return unix.EINVAL
	}
	if r.from, errno = r.tree.parent(from); errno != 0 {
		return errno
	}
	if r.to, errno = r.tree.parent(to); errno != 0 {
		return errno
	}
	switch {
	case r.from.name == "" || r.to.name == "": // the mount point belongs to another file system
		return unix.EXDEV
	case r.from.special():
		return unix.EBUSY
	case r.to.special() && r.flags&unix.RENAME_NOREPLACE != 0:
		return unix.EEXIST
	case r.to.special():
		return unix.EBUSY
	}
	return 0
}

// inodes looks up the inodes at both locations.
func (r *renaming) inodes() (errno unix.Errno) {
	links := 0
	if r.source, errno = r.tree.step(r.from, false, &links); errno != 0 {
		return errno
	}
	r.target, errno = r.tree.step(r.to, false, &links)
	if errno != 0 && errno != unix.ENOENT {
		return errno
	}
	switch {
	case r.target != 0 && r.flags&unix.RENAME_NOREPLACE != 0:
		return unix.EEXIST
	case r.target == 0 && r.exchange:
		return unix.ENOENT
	case r.tree.isAncestor(r.source, r.to.dir):
		return unix.EINVAL
	case r.target != 0 && r.tree.isAncestor(r.target, r.from.dir) && r.exchange:
		return unix.EINVAL
	case r.target != 0 && r.tree.isAncestor(r.target, r.from.dir):
		return unix.ENOTEMPTY
	}
	return 0
}

// replaceable returns an error if the source must not replace the target.
func (r *renaming) replaceable() unix.Errno {
	isDir := r.tree.inodes[r.source].kind == Dir
	t := r.tree.inodes[r.target]
	replaced := t != nil && !r.exchange
	errno := r.permitted()
	switch {
	case errno != 0:
		return errno
	case replaced && isDir && t.kind != Dir:
		return unix.ENOTDIR
	case replaced && !isDir && t.kind == Dir:
		return unix.EISDIR
	case r.movable() != 0:
		return r.movable()
	case r.apart():
		return unix.EXDEV
	case replaced && isDir && (!t.empty() || r.tree.isVolume(r.target)):
		return unix.ENOTEMPTY
	}
	return 0
}

// permitted returns the error of the access to both directories and inodes.
func (r *renaming) permitted() unix.Errno {
	errno := r.tree.mayDelete(r.from.dir, r.source)
	switch {
	case errno != 0:
		return errno
	case r.target == 0:
		return r.tree.mayWrite(r.to.dir)
	}
	return r.tree.mayDelete(r.to.dir, r.target)
}

// movable returns the error of the access to directories that get another parent.
func (r *renaming) movable() unix.Errno {
	moved := []int{r.source}
	if r.exchange {
		moved = append(moved, r.target)
	}
	for _, i := range moved {
		if r.from.dir != r.to.dir && r.tree.inodes[i].kind == Dir {
			if errno := r.tree.mayWrite(i); errno != 0 {
				return errno
			}
		}
	}
	return 0
}
