// Package model is an abstract file system: names, inodes, links, contents with holes, symbolic links, attributes, and the error
// number of each operation, as POSIX and Linux say. It knows nothing of any real one. A checker performs each operation here and
// there and compares.
//
// It also knows the time: what was at which moment, and since when it is on the disk. From that it says whether a tree that was
// recovered after a crash is one that may be there: Allowed.
package model

import (
	"maps"
	"slices"
	"strings"

	"golang.org/x/sys/unix"

	"fsward/explore/agent"
)

// FS is an abstract file system. The calling process is taken to be root with the umask 022.
type FS struct {
	can    Promises
	inodes map[int]*inode // all that a name leads to or led to since it was last synchronised, and what is open
	last   int            // the highest inode number that was used
	files  [agent.MaxSlots]file
	now    int  // operations that were performed
	log    []Op // of them all: the n-th made moment n+1

	volatile bool // nothing that is done is kept on the disk

	// Since when names, modes and attributes of all files, and the contents of all files, are on the disk: what was at this
	// moment or later may be found after a crash, and nothing that was gone by then.
	meta, data int
}

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

type file struct {
	inode int // 0: the slot is free
	flags int
}

// history is what something was from which moment on, in order.
type history[T any] []version[T]

type version[T any] struct {
	at   int
	what T
	meta bool // of contents: changed by truncate(2) and its like, which a journal orders
}

func (h history[T]) now() T { return h[len(h)-1].what }

// at is the place of what was at a moment; -1 before there was anything.
func (h history[T]) at(moment int) int {
	i := len(h) - 1
	for i >= 0 && h[i].at > moment {
		i--
	}
	return i
}

// since is all that was at a moment and after it.
func (h history[T]) since(moment int) history[T] { return h[max(0, h.at(moment)):] }

func (h *history[T]) set(at int, what T) { *h = append(*h, version[T]{at: at, what: what}) }

// New makes an empty file system, with a root directory of the mode 0755.
func New(p Promises) *FS {
	f := &FS{can: p, inodes: make(map[int]*inode), last: root}
	f.inodes[root] = &inode{kind: Dir, names: make(map[string]*name), parent: root, links: 1,
		attrs: history[attrs]{{what: attrs{mode: 0o755}}}}
	return f
}

// Clone is a copy that goes its own way.
func (f *FS) Clone() *FS {
	g := *f
	g.log = slices.Clip(f.log)
	g.inodes = make(map[int]*inode, len(f.inodes))
	for i, n := range f.inodes {
		m := *n
		m.attrs, m.data = slices.Clip(n.attrs), slices.Clip(n.data)
		if n.names != nil {
			m.names = make(map[string]*name, len(n.names))
			for s, e := range n.names {
				m.names[s] = &name{slices.Clip(e.history), e.stored}
			}
		}
		g.inodes[i] = &m
	}
	return &g
}

// create makes an inode without a name.
func (f *FS) create(k Kind, mode uint32) (int, *inode) {
	if f.can.NoModes {
		mode = 0o755
	}
	f.last++
	n := &inode{kind: k, born: f.now, changed: f.now, sized: f.now}
	n.attrs.set(f.now, attrs{mode: mode})
	switch k {
	case Dir:
		n.names = make(map[string]*name)
	case File:
		n.data.set(f.now, content{})
	}
	f.inodes[f.last] = n
	return f.last, n
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

// point makes a name of directory d lead to an inode, or to none.
func (f *FS) point(d int, s string, to int) {
	n := f.inodes[d]
	e := n.names[s]
	if e == nil {
		e = &name{history: history[int]{{at: 0}}}
		n.names[s] = e
	}
	n.changed = f.now
	if old := f.inodes[e.now()]; old != nil {
		old.links--
		old.changed = f.now
	}
	if to != 0 {
		i := f.inodes[to]
		i.links++
		i.changed = f.now
		if i.kind == Dir {
			i.parent = d
		}
	}
	e.set(f.now, to)
	if (f.can.Sync || f.can.Dirsync) && !f.volatile {
		e.stored = f.now
		if to != 0 {
			f.inodes[to].meta = f.now
		}
	}
}

// maxLinks is MAXSYMLINKS of linux/namei.h.
const maxLinks = 40

// where is the place of a path's last component: the directory, and the name in it, which may lead to nothing. The name is ""
// where the path has none (the root), "." or ".." where it ends so.
type where struct {
	dir  int
	name string
}

// parent finds the place of a path, as filename_parentat (fs/namei.c).
func (f *FS) parent(path string) (where, unix.Errno) {
	links := 0
	return f.walk(root, path, &links)
}

func (f *FS) walk(d int, path string, links *int) (where, unix.Errno) {
	if path == "" {
		return where{}, unix.ENOENT
	}
	if len(path) >= unix.PathMax {
		return where{}, unix.ENAMETOOLONG
	}
	var parts []string
	for _, s := range strings.Split(path, "/") {
		if s != "" {
			parts = append(parts, s)
		}
	}
	if len(parts) == 0 {
		return where{d, ""}, 0
	}
	for _, s := range parts[:len(parts)-1] {
		next, errno := f.step(where{d, s}, true, links)
		if errno != 0 {
			return where{}, errno
		}
		if f.inodes[next].kind != Dir {
			return where{}, unix.ENOTDIR
		}
		d = next
	}
	return where{d, parts[len(parts)-1]}, 0
}

// step is the inode at a place. A symbolic link is followed if follow says so.
func (f *FS) step(w where, follow bool, links *int) (int, unix.Errno) {
	switch {
	case w.name == "" || w.name == ".":
		return w.dir, 0
	case w.name == "..":
		return f.inodes[w.dir].parent, 0
	case len(w.name) > unix.NAME_MAX:
		return 0, unix.ENAMETOOLONG
	}
	i := f.inodes[w.dir].lookup(w.name)
	if i == 0 {
		return 0, unix.ENOENT
	}
	n := f.inodes[i]
	if n.kind != Symbolic || !follow {
		return i, 0
	}
	if *links++; *links > maxLinks {
		return 0, unix.ELOOP
	}
	if strings.HasPrefix(n.target, "/") {
		return 0, unix.ENOENT // it leads out of this file system, where nothing is
	}
	w, errno := f.walk(w.dir, n.target, links)
	if errno != 0 {
		return 0, errno
	}
	return f.step(w, true, links)
}

// find is the inode that a path leads to.
func (f *FS) find(path string, follow bool) (int, unix.Errno) {
	w, errno := f.parent(path)
	if errno != 0 {
		return 0, errno
	}
	links := 0
	return f.step(w, follow, &links)
}

// special says that a path ends in what is no name of its own: LAST_DOT, LAST_DOTDOT and LAST_ROOT of fs/namei.c.
func (w where) special() bool { return w.name == "" || w.name == "." || w.name == ".." }

// free is the place of a path where something can be made, as filename_create (fs/namei.c).
func (f *FS) free(path string) (where, unix.Errno) {
	w, errno := f.parent(path)
	switch {
	case errno != 0:
	case w.special():
		errno = unix.EEXIST
	default:
		links := 0
		if _, errno = f.step(w, false, &links); errno == 0 {
			errno = unix.EEXIST
		} else if errno == unix.ENOENT {
			errno = 0
		}
	}
	return w, errno
}

// drop forgets an inode that nothing leads to, now or on the disk.
func (f *FS) drop() {
	used := map[int]bool{root: true}
	for i, n := range f.inodes {
		if n.open > 0 {
			used[i] = true
		}
		for _, e := range n.names {
			for _, v := range e.history {
				used[v.what] = true
			}
		}
	}
	maps.DeleteFunc(f.inodes, func(i int, _ *inode) bool { return !used[i] })
}

// Walk calls f of each name that there is, in order of paths; the root is "/". empty says of a directory that nothing is in it.
func (f *FS) Walk(visit func(path string, k Kind, empty bool)) {
	var walk func(i int, p string)
	walk = func(i int, p string) {
		n := f.inodes[i]
		names := n.current()
		visit(p, n.kind, len(names) == 0)
		for _, s := range names {
			walk(n.lookup(s), strings.TrimSuffix(p, "/")+"/"+s)
		}
	}
	walk(root, "/")
}
