package model

import (
	"cmp"

	"golang.org/x/sys/unix"

	"fsward/explore/agent"
)

// Three things forbid changes to root: the flags Immutable and AppendOnly of an inode, which give
// EPERM, and a read-only subvolume of Btrfs, whose inodes give EROFS. "A file with the 'i'
// attribute cannot be modified: it cannot be deleted or renamed, no link can be created to this
// file, most of the file's metadata can not be modified, and the file can not be opened in write
// mode" (chattr(1)).

// isImmutable, isAppendOnly and isProtected report whether an inode has one of these flags, or any.
func (n *inode) isImmutable() bool  { return n.attrs.now().flags&agent.Immutable != 0 }
func (n *inode) isAppendOnly() bool { return n.attrs.now().flags&agent.AppendOnly != 0 }
func (n *inode) isProtected() bool  { return n.attrs.now().flags&agent.Forbidding != 0 }

// isPlaceholder reports whether an inode is a directory in the place of a subvolume.
func (n *inode) isPlaceholder() bool { return n.attrs.now().flags&agent.Placeholder != 0 }

// isReadOnly reports whether an inode is in a read-only subvolume.
func (t *tree) isReadOnly(i int) bool {
	top := t.inodes[cmp.Or(t.inodes[i].volume, root)]
	return top != nil && top.attrs.now().flags&agent.ReadOnly != 0
}

// mayWrite returns the error of writing to an inode (inode_permission, btrfs_permission). To write
// to a directory is to make, rename or remove names in it.
func (t *tree) mayWrite(i int) unix.Errno {
	switch n := t.inodes[i]; {
	case n.isImmutable():
		return unix.EPERM
	case n.kind != Special && t.isReadOnly(i):
		return unix.EROFS
	}
	return 0
}

// mayOpen returns the error of opening an inode with flags of open(2), or of truncating it
// (may_open, vfs_truncate).
func (t *tree) mayOpen(i, flags int) unix.Errno {
	if flags&unix.O_ACCMODE == unix.O_RDONLY && flags&unix.O_TRUNC == 0 {
		return 0
	}
	n := t.inodes[i]
	if errno := t.mayWrite(i); errno != 0 {
		return errno
	}
	if n.isAppendOnly() && (flags&unix.O_APPEND == 0 || flags&unix.O_TRUNC != 0) {
		return unix.EPERM
	}
	return 0
}

// mayDelete returns the error of removing a name of an inode from a directory (may_delete).
func (t *tree) mayDelete(dir, i int) unix.Errno {
	if errno := t.mayWrite(dir); errno != 0 {
		return errno
	}
	if t.inodes[dir].isAppendOnly() || t.inodes[i].isProtected() {
		return unix.EPERM
	}
	return 0
}

// maySetAttributes returns the error of setting the mode, the owner or the times of an inode
// (may_setattr, btrfs_setattr).
func (t *tree) maySetAttributes(i int) unix.Errno {
	switch {
	case t.inodes[i].isProtected():
		return unix.EPERM
	case t.isReadOnly(i):
		return unix.EROFS
	}
	return 0
}

// isHeld reports whether an inode is open, or one of its subvolume if it is the root directory of
// one.
func (t *tree) isHeld(i int) bool {
	for j, n := range t.inodes {
		if n.open > 0 && (i == j || t.isVolume(i) && cmp.Or(n.volume, root) == i) {
			return true
		}
	}
	return false
}
