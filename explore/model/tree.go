package model

import (
	"maps"
	"slices"
	"strings"

	"golang.org/x/sys/unix"
)

// A tree is the inodes and names of a file system, with their histories since they were last
// synchronized.
type tree struct {
	inodes map[int]*inode // all that are open, or to which a name refers now or in its history
	last   int            // the highest inode number used so far
}

// newTree returns a tree with only a root directory of mode 0755.
func newTree() tree {
	top := &inode{kind: Dir, names: make(map[string]*name), parent: root, links: 1,
		attrs: history[attrs]{{value: attrs{mode: 0o755}}}}
	return tree{map[int]*inode{root: top}, root}
}

// clone returns an independent copy.
func (t *tree) clone() tree {
	out := tree{make(map[int]*inode, len(t.inodes)), t.last}
	for i, n := range t.inodes {
		m := *n
		m.attrs, m.data = slices.Clip(n.attrs), slices.Clip(n.data)
		m.ranges, m.tails = slices.Clip(n.ranges), slices.Clip(n.tails)
		if n.names != nil {
			m.names = make(map[string]*name, len(n.names))
			for s, e := range n.names {
				m.names[s] = &name{slices.Clip(e.history), e.stored}
			}
		}
		out.inodes[i] = &m
	}
	return out
}

// create makes an inode without a name at a moment.
func (t *tree) create(k Kind, a attrs, now int) (int, *inode) {
	t.last++
	n := &inode{kind: k, born: now, changed: now, sized: now, mtimeAt: now, ctimeAt: now}
	n.attrs.set(now, a)
	switch k {
	case Dir:
		n.names = make(map[string]*name)
	case File:
		n.data.set(now, content{})
	}
	t.inodes[t.last] = n
	return t.last, n
}

// setName makes name s of directory d refer to inode to at moment now, or removes it if to is 0.
func (t *tree) setName(d int, s string, to, now int) *name {
	n := t.inodes[d]
	e := n.names[s]
	if e == nil {
		e = &name{history: history[int]{{at: 0}}}
		n.names[s] = e
	}
	n.changed = now
	n.markModified(now)
	if old := t.inodes[e.now()]; old != nil {
		old.links--
		old.changed = now
	}
	if to != 0 {
		i := t.inodes[to]
		i.links++
		i.changed = now
		if i.kind == Dir {
			i.parent = d
		}
	}
	e.set(now, to)
	return e
}

// collect removes the inodes that are not open and that no name refers to, now or in its history.
func (t *tree) collect() {
	used := map[int]bool{root: true}
	for i, n := range t.inodes {
		if n.open > 0 {
			used[i] = true
		}
		for _, e := range n.names {
			for _, v := range e.history {
				used[v.value] = true
			}
		}
	}
	maps.DeleteFunc(t.inodes, func(i int, _ *inode) bool { return !used[i] })
}

// visit calls visit for each path, in order; the root is "/". names are those in a directory.
func (t *tree) visit(visit func(path string, n *inode, names []string)) {
	var walk func(i int, p string)
	walk = func(i int, p string) {
		n := t.inodes[i]
		names := n.current()
		visit(p, n, names)
		for _, s := range names {
			walk(n.lookup(s), strings.TrimSuffix(p, "/")+"/"+s)
		}
	}
	walk(root, "/")
}

// readdir returns the names in a directory.
func (t *tree) readdir(dir string) Result {
	i, errno := t.find(dir, true)
	if errno == 0 && t.inodes[i].kind != Dir {
		errno = unix.ENOTDIR
	}
	if errno != 0 {
		return Result{Errno: errno}
	}
	names := t.inodes[i].current()
	data := strings.Join(names, "\x00")
	if len(names) > 0 {
		data += "\x00"
	}
	return Result{Value: uint64(len(names)), Data: data}
}

// readlink returns the target of a symbolic link.
func (t *tree) readlink(link string) Result {
	i, errno := t.find(link, false)
	if errno == 0 && t.inodes[i].kind != Symbolic {
		errno = unix.EINVAL
	}
	if errno != 0 {
		return Result{Errno: errno}
	}
	return Result{Data: t.inodes[i].target}
}
