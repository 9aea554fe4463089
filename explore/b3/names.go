package b3

import (
	"maps"
	"path"
	"slices"
	"strings"
)

// A node is what a name stands for: a file, which hard links share, or a directory. The names are a
// tree, so that the rename of a directory costs the same however many names are below it.
type node struct {
	file    *file            // nil: it is a directory
	entries map[string]*node // of a directory
	volume  bool             // the directory is the root directory of a subvolume
}

func newDirectory() *node { return &node{entries: make(map[string]*node)} }

// isDir reports whether a node is a directory; nil is nothing.
func (n *node) isDir() bool { return n != nil && n.file == nil }

// copied returns a copy of a node without the subvolumes in it, with copies of the files.
func (n *node) copied(files map[*file]*file) *node {
	if n.file != nil {
		if files[n.file] == nil {
			files[n.file] = n.file.clone()
		}
		return &node{file: files[n.file]}
	}
	c := newDirectory()
	for name, below := range n.entries {
		c.entries[name] = below.copied(files)
	}
	return c
}

// volumes returns the paths of the subvolumes below a directory, in order. dir is its path.
func (n *node) volumes(dir string) (paths []string) {
	for name, below := range n.entries {
		at := inDir(dir, name)
		if below.volume {
			paths = append(paths, at)
		}
		paths = append(paths, below.volumes(at)...)
	}
	slices.Sort(paths)
	return paths
}

// inDir returns the path of an entry of a directory.
func inDir(dir, name string) string {
	if dir == "/" {
		return name
	}
	return dir + "/" + name
}

// find returns what a path below the root directory stands for; nil: nothing.
func (n *node) find(name string) *node {
	for part := range strings.SplitSeq(name, "/") {
		if name == "/" || n == nil {
			break
		}
		n = n.entries[part]
	}
	return n
}

// set makes a path, whose directory exists, stand for a node; nil: for nothing.
func (c *completer) set(name string, n *node) {
	dir := c.root
	if parent := path.Dir(name); parent != "." {
		dir = c.root.find(parent)
	}
	switch {
	case !dir.isDir():
	case n == nil:
		delete(dir.entries, path.Base(name))
	default:
		dir.entries[path.Base(name)] = n
	}
}

// makeFile makes a path stand for a new file.
func (c *completer) makeFile(name string) {
	c.set(name, &node{file: &file{xattrs: make(map[string]bool)}})
}

// isInside reports whether a name is in a directory, or below it.
func isInside(name, dir string) bool {
	return dir == "/" && name != "/" || strings.HasPrefix(name, dir+"/")
}

// empty removes everything in a directory.
func (c *completer) empty(dir string) {
	if n := c.root.find(dir); n.isDir() {
		for _, name := range slices.Sorted(maps.Keys(n.entries)) {
			c.remove(inDir(dir, name))
		}
	}
}

// closeBelow closes what is open below a directory under a name that it has.
func (c *completer) closeBelow(dir string) {
	for _, name := range slices.Sorted(slices.Values(c.open)) {
		if isInside(name, dir) && c.root.find(name) != nil {
			c.close(name)
		}
	}
}

// move follows a rename.
func (c *completer) move(from, to string) {
	if from == to || isInside(to, from) || isInside(from, to) || c.isApart(from, to) {
		return // it fails
	}
	n, there := c.root.find(from), c.root.find(to)
	if n == nil || n.file != nil && there != nil && there.file == n.file {
		return // a rename between names of one file does nothing
	}
	c.set(from, nil)
	c.set(to, n)
}

// swap follows an exchange.
func (c *completer) swap(a, b string) {
	if isInside(a, b) || isInside(b, a) || c.isApart(a, b) || c.isApart(b, a) {
		return // it fails
	}
	atA, atB := c.root.find(a), c.root.find(b)
	c.set(a, atB)
	c.set(b, atA)
}
