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
	volume
	log operations
}

// A volume has the state of a file system, and performs single operations on it.
type volume struct {
	promises Promises
	tree     tree
	disk     disk
	files    descriptors
	now      int // number of the last operation
}

// New returns an empty file system with a root directory of mode 0755.
func New(p Promises) *FS {
	return &FS{volume: volume{promises: p, tree: newTree(), disk: disk{promises: p}}}
}

// Apply performs an operation. A failed operation has no effect.
func (f *FS) Apply(o Op) Result {
	f.now++
	f.log = append(f.log, o)
	return f.perform(o)
}

// Knows reports whether the model knows what an operation does. File systems differ in which flags
// they know, whether an open file can be written after its flags forbid it, and whether an
// immutable file can get other flags. A directory in the place of a subvolume can only be removed.
func (v *volume) Knows(o Op) bool {
	if usesPlaceholder(&v.tree, o) {
		return false
	}
	i, errno := v.tree.find(o.Path, o.Code == Snapshot)
	if errno != 0 {
		return true
	}
	n := v.tree.inodes[i]
	switch flags := uint32(o.Flags); o.Code {
	case Snapshot:
		return n.kind != Dir || v.tree.isVolume(i)
	case SetReadOnly:
		return flags == 0 || !v.tree.isHeld(i)
	case Setflags:
		was := n.attrs.now().flags & agent.KnownFlags
		frozen := was&flags&agent.Immutable != 0 && was != flags
		return (v.promises.Has(Subvolumes) || flags&btrfsFlags == 0) && !frozen &&
			(flags&agent.Forbidding == 0 || !v.tree.isHeld(i))
	}
	return true
}

// Clone returns an independent copy.
func (f *FS) Clone() *FS {
	g := *f
	g.log, g.tree = slices.Clip(f.log), f.tree.clone()
	return &g
}

// create makes an inode without a name, for a directory whose default list it inherits, and returns
// its number.
func (v *volume) create(dir int, k Kind, mode uint32) (int, *inode) {
	if v.promises.NoModes {
		mode = 0o755
	}
	a := attrs{mode: mode}
	in := 0
	if d := v.tree.inodes[dir]; d != nil {
		from := d.attrs.now()
		a, in = from.inherited(k, mode), d.volume
		a.flags = v.inheritedFlags(k, from.flags)
	}
	i, n := v.tree.create(k, a, v.now)
	n.volume = in
	return i, n
}

// setName makes name s of directory d refer to inode to, or removes it if to is 0. With -o sync or
// -o dirsync the change is durable at once.
func (v *volume) setName(d int, s string, to int) {
	e := v.tree.setName(d, s, to, v.now)
	if (v.promises.Sync || v.promises.Dirsync) && !v.disk.volatile {
		e.stored = v.now
		if to != 0 {
			v.tree.inodes[to].meta = v.now
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

// Inherits reports whether a directory has a default access control list.
func (f *FS) Inherits(dir string) bool {
	i, errno := f.tree.find(dir, false)
	return errno == 0 && accessList(f.tree.inodes[i].attrs.now().xattrs[defaultACLName]).valid()
}
