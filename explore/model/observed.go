package model

import (
	"cmp"
	"crypto/sha256"
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"

	"golang.org/x/sys/unix"

	"fsward/explore/agent"
)

// An Observed is a tree of files as it was read from a real file system.
type Observed struct {
	nodes map[string]*node  // by path, without "/" at the beginning; the root is "."
	names map[uint64]uint64 // by inode number: how many names refer to it
	// unreadable has the error of each path that a directory lists and that cannot be read, or not
	// completely. These paths, and all below them, are not in nodes.
	unreadable map[string]unix.Errno
	// links has the other names of an inode with several, by the name that Wants lists.
	links map[string][]*node
}

// Unreadable describes the first file that is listed and cannot be read, or returns "".
func (s *Observed) Unreadable() string {
	for _, p := range slices.Sorted(maps.Keys(s.unreadable)) {
		return fmt.Sprintf("/%s cannot be read: %v", p, s.unreadable[p])
	}
	return ""
}

// DataInHole returns a *Mismatch if a file has data where lseek(2) says that a hole is. The kernel
// may answer otherwise once the file was read, because its pages are cached then.
func DataInHole(list []agent.Entry) error {
	for i := range list {
		if err := dataInHole(&list[i]); err != nil {
			return err
		}
	}
	return nil
}

// dataInHole is DataInHole for one file.
func dataInHole(e *agent.Entry) error {
	if e.InHole == 0 {
		return nil
	}
	return mismatchf("hole", "/%s has data at offset %d, where lseek(2) says that a hole is", e.Path,
		e.InHole-1)
}

// Reread compares s with a later look at the same tree. It returns a *Mismatch if a file was
// another one then, though nothing happened between.
func (s *Observed) Reread(later *Observed) error {
	for _, p := range slices.Sorted(maps.Keys(s.nodes)) {
		if is := later.nodes[p]; is == nil || !s.nodes[p].same(is) {
			return mismatchf("not the same", "/%s was read twice, with different results", p)
		}
	}
	return nil
}

// A node is an observed file or directory.
type node struct {
	agent.Entry
	xattrs   map[string]string
	data     []byte   // of a file, after SetData
	complete bool     // data has all of it
	entries  []string // names in a directory, sorted
}

// MaxContent bounds the content that is read of one file, in bytes.
const MaxContent = 64 << 20

// Observe returns the tree of the entries of an agent.Tree. It leaves out lost+found, everything
// that fsck put there, the files of FillDisk and FillInodes, and the names in the root directory
// that match own, patterns of path.Match.
func Observe(entries []agent.Entry, own ...string) (*Observed, error) {
	own = append([]string{"lost+found", agent.FillName, agent.EmptyNames}, own...)
	s := &Observed{
		nodes:      make(map[string]*node, len(entries)),
		names:      make(map[uint64]uint64),
		unreadable: make(map[string]unix.Errno),
	}
	for _, e := range entries {
		p := path.Clean(e.Path)
		s.names[e.Inode]++
		top, _, _ := strings.Cut(p, "/")
		matchesTop := func(pattern string) bool { is, _ := path.Match(pattern, top); return is }
		if slices.ContainsFunc(own, matchesTop) {
			continue
		}
		if _, is := s.nodes[p]; is {
			return nil, fmt.Errorf("%s is in its directory twice", p)
		}
		s.nodes[p] = &node{Entry: e}
	}
	switch top := s.nodes["."]; {
	case top == nil:
		return nil, fmt.Errorf("there is no root directory")
	case top.Errno != 0:
		return nil, fmt.Errorf("the root directory cannot be read: %w", top.Errno)
	}
	s.removeUnreadable()
	if err := s.linkEntries(); err != nil {
		return nil, err
	}
	return s, nil
}

// removeUnreadable moves the nodes with an error to unreadable, and removes all nodes below them.
func (s *Observed) removeUnreadable() {
	for p, n := range s.nodes {
		if n.Errno != 0 {
			s.unreadable[p] = n.Errno
		}
	}
	for p := range s.nodes {
		for above := p; above != "."; above = path.Dir(above) {
			if s.unreadable[above] != 0 {
				delete(s.nodes, p)
			}
		}
	}
}

// linkEntries adds the name of each node to the entries of its directory.
func (s *Observed) linkEntries() error {
	for p := range s.nodes {
		if p == "." {
			continue
		}
		d := s.nodes[path.Dir(p)]
		if d == nil {
			return fmt.Errorf("%s has no parent directory", p)
		}
		d.entries = append(d.entries, path.Base(p))
	}
	for _, n := range s.nodes {
		slices.Sort(n.entries)
	}
	return nil
}

func (n *node) kind() Kind {
	switch n.Mode & unix.S_IFMT {
	case unix.S_IFDIR:
		return Dir
	case unix.S_IFREG:
		return File
	case unix.S_IFLNK:
		return Symbolic
	case unix.S_IFIFO, unix.S_IFSOCK, unix.S_IFCHR, unix.S_IFBLK:
		return Special
	}
	return 0
}

// A Want is a file whose content or extended attributes have to be read.
type Want struct {
	Path   string // absolute, from the root of the file system
	Data   bool   // its content is needed, Size bytes
	Size   uint64
	Xattrs bool // its extended attributes are needed
}

// Wants lists what Equal and Allowed need beside the tree, in order of paths: the extended
// attributes of all files but symbolic links, and the contents of files whose checksum is not that
// of a file that f has now. Files larger than MaxContent are left out. Extended attributes belong
// to the inode, so Wants asks for those of the first name alone.
func (s *Observed) Wants(f *FS) (out []Want) {
	sums := make(map[[sha256.Size]byte]bool)
	for _, n := range f.tree.inodes {
		if n.kind == File {
			sums[n.data.now().sum()] = true
		}
	}
	for p, n := range s.nodes {
		w := Want{Path: path.Join("/", p), Size: n.Size}
		w.Xattrs = !f.promises.NoXattrs && n.kind() != Symbolic
		w.Data = n.kind() == File && !sums[n.Sum] && n.Size <= MaxContent
		if w.Xattrs || w.Data {
			out = append(out, w)
		}
	}
	slices.SortFunc(out, func(a, b Want) int { return cmp.Compare(a.Path, b.Path) })
	s.wantOncePerInode(out)
	return slices.DeleteFunc(out, func(w Want) bool { return !w.Xattrs && !w.Data })
}

// wantOncePerInode asks for the extended attributes of the first name of each inode only. A file
// with thousands of names then costs as much as one with a single name.
func (s *Observed) wantOncePerInode(wants []Want) {
	s.links = make(map[string][]*node)
	first := make(map[agent.Entry]string)
	for i, w := range wants {
		n := s.nodes[below(w.Path)]
		if n.Links < 2 || n.kind() == Dir {
			continue
		}
		key := n.Entry
		key.Path = ""
		if p, is := first[key]; is {
			s.links[p] = append(s.links[p], n)
			wants[i].Xattrs = false
			continue
		}
		first[key] = w.Path
	}
}

// SetData sets the content of a file. The path is one of Wants.
func (s *Observed) SetData(p string, data []byte) {
	n := s.nodes[below(p)]
	n.data, n.complete = data, uint64(len(data)) == n.Size && sha256.Sum256(data) == n.Sum
}

// SetXattrs sets the extended attributes of a file in the namespace "user.", for all its names. The
// path is one of Wants.
func (s *Observed) SetXattrs(p string, x map[string]string) {
	s.nodes[below(p)].xattrs = x
	for _, n := range s.links[p] {
		n.xattrs = x
	}
}

// below returns an absolute path relative to the root.
func below(p string) string { return path.Join(".", p) }

// Observed returns the current tree of f, as Look would return it.
func (f *FS) Observed() *Observed {
	s := &Observed{nodes: make(map[string]*node), names: make(map[uint64]uint64)}
	var walk func(i int, p string)
	walk = func(i int, p string) {
		n := f.tree.inodes[i]
		a := n.attrs.now()
		typeBits := [...]uint32{Dir: unix.S_IFDIR, File: unix.S_IFREG, Symbolic: unix.S_IFLNK,
			Special: 0}
		e := agent.Entry{
			Path: p, Inode: uint64(i), Links: uint64(n.links), Mode: a.mode | typeBits[n.kind],
			UID: a.uid, GID: a.gid, Target: n.target, Rdev: n.node.dev,
		}
		e.Mode |= n.node.typ
		e.Ctime = ClockOf(n.ctimeAt)
		if e.Mtime = a.mtime; a.mtime <= 0 {
			e.Mtime = ClockOf(n.mtimeAt)
		}
		here := &node{Entry: e, xattrs: a.xattrs, entries: n.current()}
		here.Flags = a.flags
		if n.kind == File {
			r := n.render()
			here.data, here.complete = r.data, true
			here.Size, here.Sum, here.Blocks = r.of.size, r.sum, r.of.blocks()
		}
		s.nodes[p] = here
		s.names[e.Inode]++
		for _, name := range here.entries {
			walk(n.lookup(name), path.Join(p, name))
		}
	}
	walk(root, ".")
	return s
}

// A rendering is a content as Observed shows it.
type rendering struct {
	of   content
	data []byte // is not modified
	sum  [sha256.Size]byte
}

// render returns the rendering of a file's content. It keeps the last one.
func (n *inode) render() *rendering {
	c := n.data.now()
	if r := n.rendered; r == nil || r.of.size != c.size || !slices.Equal(r.of.parts, c.parts) {
		data := c.bytes()
		n.rendered = &rendering{c, data, sha256.Sum256(data)}
	}
	return n.rendered
}

// Same compares s with the tree of a second recovery from the same crash. The error is a *Mismatch
// that names the first difference.
func (s *Observed) Same(other *Observed) error {
	for _, p := range slices.Sorted(maps.Keys(s.nodes)) {
		a, b := s.nodes[p], other.nodes[p]
		switch {
		case b == nil:
			return mismatchf("not the same", "/%s existed the first time, and not the second", p)
		case !a.same(b):
			return mismatchf("not the same",
				"/%s: first mode %#o, owner %d:%d, %d bytes; then mode %#o, owner %d:%d, %d bytes",
				p, a.Mode, a.UID, a.GID, a.Size, b.Mode, b.UID, b.GID, b.Size)
		case !maps.Equal(a.xattrs, b.xattrs):
			return mismatchf("not the same", "/%s: first the extended attributes %q, then %q",
				p, a.xattrs, b.xattrs)
		}
	}
	for _, p := range slices.Sorted(maps.Keys(other.nodes)) {
		if s.nodes[p] == nil {
			return mismatchf("not the same", "/%s existed the second time, and not the first", p)
		}
	}
	return nil
}

// same reports whether two nodes have equal attributes, targets and contents. It does not compare
// extended attributes.
func (n *node) same(o *node) bool {
	return n.Mode == o.Mode && n.UID == o.UID && n.GID == o.GID && n.Target == o.Target &&
		n.Sum == o.Sum && (n.kind() != File || n.Size == o.Size)
}

// Entries returns the files as agent.Tree does, in order of paths.
func (s *Observed) Entries() (out []agent.Entry) {
	for _, p := range slices.Sorted(maps.Keys(s.nodes)) {
		out = append(out, s.nodes[p].Entry)
	}
	return out
}

// Xattrs returns the extended attributes of a file, or nil. p is a path from the root.
func (s *Observed) Xattrs(p string) map[string]string {
	if n := s.nodes[below(p)]; n != nil {
		return n.xattrs
	}
	return nil
}

// Paths returns the paths of all files from the root, sorted. The root is "/".
func (s *Observed) Paths() (out []string) {
	for _, p := range slices.Sorted(maps.Keys(s.nodes)) {
		out = append(out, path.Join("/", p))
	}
	return out
}

// Kind returns the kind of the file at a path from the root. ok reports whether it exists.
func (s *Observed) Kind(p string) (k Kind, ok bool) {
	n := s.nodes[below(p)]
	if n == nil {
		return 0, false
	}
	return n.kind(), true
}
