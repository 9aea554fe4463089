// Package model is an abstract file system. It has names, inodes, hard and symbolic links, contents
// with holes, attributes, and the error number of each operation, as POSIX and Linux specify them.
// It knows nothing of a real file system. A checker performs each operation on both and compares.
//
// The model also keeps a history: the values of each name, attribute and content, and since when
// they are durable. From these, FS.Allowed decides whether a crash may leave an observed tree.
//
// Start reading at FS.Apply (operations), disk (durability) and FS.Allowed (crash states).
package model

import (
	"slices"

	"fsward/explore/agent"
)

// An FS is an abstract file system. It assumes that the calling process is root, with umask 022.
type FS struct {
	promises Promises
	tree     tree
	disk     disk
	files    [agent.MaxSlots]file
	now      int  // number of the last operation
	log      []Op // all operations: operation n is log[n-1]
}

// A file is an open file description.
type file struct {
	inode int // 0: the slot is free
	flags int
}

// New returns an empty file system with a root directory of mode 0755.
func New(p Promises) *FS { return &FS{promises: p, tree: newTree(), disk: disk{promises: p}} }

// Clone returns an independent copy.
func (f *FS) Clone() *FS {
	g := *f
	g.log, g.tree = slices.Clip(f.log), f.tree.clone()
	return &g
}

// create makes an inode without a name, and returns its number.
func (f *FS) create(k Kind, mode uint32) (int, *inode) {
	if f.promises.NoModes {
		mode = 0o755
	}
	return f.tree.create(k, mode, f.now)
}

// setName makes name s of directory d refer to inode to, or removes it if to is 0. With -o sync or
// -o dirsync the change is durable at once.
func (f *FS) setName(d int, s string, to int) {
	e := f.tree.setName(d, s, to, f.now)
	if (f.promises.Sync || f.promises.Dirsync) && !f.disk.volatile {
		e.stored = f.now
		if to != 0 {
			f.tree.inodes[to].meta = f.now
		}
	}
}

// Walk calls visit for each file and directory, in order of paths. The root is "/". empty reports
// whether a directory has no names.
func (f *FS) Walk(visit func(path string, k Kind, empty bool)) {
	f.tree.visit(func(path string, n *inode, names []string) { visit(path, n.kind, len(names) == 0) })
}

// ExtraNames returns the number of names of files beside the first name of each.
func (f *FS) ExtraNames() (n int) {
	for _, i := range f.tree.inodes {
		if i.kind == File && i.links > 1 {
			n += i.links - 1
		}
	}
	return n
}
