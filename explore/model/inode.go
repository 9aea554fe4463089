package model

import (
	"maps"
	"slices"
)

const root = 1 // inode number of the root directory

// Kind is what an inode is. The zero value is nothing.
type Kind uint8

// The kinds of inodes.
const (
	Dir Kind = iota + 1
	File
	Symbolic
)

func (k Kind) String() string {
	return [...]string{"nothing", "a directory", "a file", "a symbolic link"}[k]
}

type inode struct {
	kind   Kind
	born   int
	attrs  history[attrs]
	data   history[content] // of a file
	target string           // of a symbolic link
	names  map[string]*name // of a directory: all that it had since it was last synchronised
	parent int              // of a directory
	links  int              // names that lead here now
	open   int              // files that are open
	gone   bool             // a directory that was removed

	// As meta and data of FS, of this one alone; stored is that of a directory's names. 0: never.
	meta, stored, dataAt int
	changed, sized       int // when its metadata, and when its size, was last changed
	named                int // since when all the names that it had then are on the disk
}

// attrs is what stat(2) and listxattr(2) say of an inode. It is never changed.
type attrs struct {
	mode     uint32
	uid, gid uint32
	xattrs   map[string]string
}

// name is an entry of a directory: the inode numbers that it led to, 0 for none.
type name struct {
	history[int]
	stored int // as meta of FS, of this one alone
}

// lookup is the inode that a name of a directory leads to now, 0 for none.
func (n *inode) lookup(s string) int {
	if e := n.names[s]; e != nil {
		return e.now()
	}
	return 0
}

func (n *inode) empty() bool {
	for _, e := range n.names {
		if e.now() != 0 {
			return false
		}
	}
	return true
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

// describe changes attributes. Where nothing changes, the inode need not be written
// (ext4_xattr_set_handle), and no other change is kept with it.
func (n *inode) describe(a attrs, now int) {
	was := n.attrs.now()
	if was.mode == a.mode && was.uid == a.uid && was.gid == a.gid && maps.Equal(was.xattrs, a.xattrs) {
		return
	}
	n.changed = now
	n.attrs.set(now, a)
}

// resize changes the size of a file, as truncate(2) does.
func (n *inode) resize(size uint64, now int) {
	if size != n.data.now().size {
		n.changed, n.sized = now, now
	}
	n.data = append(n.data, version[content]{now, n.data.now().truncate(size), true})
}
