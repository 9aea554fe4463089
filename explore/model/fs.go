// Package model is an abstract file system: names, inodes, links, contents with holes, symbolic links, attributes, and the error
// number of each operation, as POSIX and Linux say. It knows nothing of any real one. A checker performs each operation here and
// there and compares.
//
// It also knows the time: what was at which moment, and since when it is on the disk. From that it says whether a tree that was
// recovered after a crash is one that may be there: Allowed.
package model

import (
	"slices"

	"fsward/explore/agent"
)

// FS is an abstract file system. The calling process is taken to be root with the umask 022.
type FS struct {
	can   Promises
	tree  tree
	disk  disk
	files [agent.MaxSlots]file
	now   int  // operations that were performed
	log   []Op // all of them: the n-th made moment n+1
}

type file struct {
	inode int // 0: the slot is free
	flags int
}

// New makes an empty file system, with a root directory of the mode 0755.
func New(p Promises) *FS { return &FS{can: p, tree: newTree(), disk: disk{promises: p}} }

// Clone returns a copy that changes on its own.
func (f *FS) Clone() *FS {
	g := *f
	g.log, g.tree = slices.Clip(f.log), f.tree.clone()
	return &g
}

// create makes an inode without a name.
func (f *FS) create(k Kind, mode uint32) (int, *inode) {
	if f.can.NoModes {
		mode = 0o755
	}
	return f.tree.create(k, mode, f.now)
}

// point makes a name of directory d lead to an inode, or to none.
func (f *FS) point(d int, s string, to int) {
	e := f.tree.point(d, s, to, f.now)
	if (f.can.Sync || f.can.Dirsync) && !f.disk.volatile {
		e.stored = f.now
		if to != 0 {
			f.tree.inodes[to].meta = f.now
		}
	}
}

// Walk calls visit for each name that there is, in order of paths; the root is "/". empty reports
// whether a directory has no names.
func (f *FS) Walk(visit func(path string, k Kind, empty bool)) {
	f.tree.visit(func(path string, n *inode, names []string) { visit(path, n.kind, len(names) == 0) })
}
