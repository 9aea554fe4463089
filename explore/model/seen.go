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

// Seen is a tree that was found on a real file system.
type Seen struct {
	nodes map[string]*node
	names map[uint64]uint64 // by inode: how many lead to it
	// unreadable are the paths of those that are listed and cannot be looked at, or not whole, with the errors. They are not among nodes.
	unreadable map[string]unix.Errno
}

// Unreadable names a file that is listed and cannot be read; "" where all can.
func (s *Seen) Unreadable() string {
	for _, p := range slices.Sorted(maps.Keys(s.unreadable)) {
		return fmt.Sprintf("/%s cannot be read: %v", p, s.unreadable[p])
	}
	return ""
}

// node is one of its files.
type node struct {
	agent.Entry
	xattrs  map[string]string
	data    []byte // of a file, once it was asked for
	whole   bool   // data has all of it
	entries []string
}

// MaxContent bounds what is read of one file's content, in bytes.
const MaxContent = 64 << 20

// See takes what agent.Tree gave of a file system. What fsck has put into lost+found is left out, and so is that directory and what
// else is the file system's own in the root directory, by patterns of path.Match.
func See(entries []agent.Entry, own ...string) (*Seen, error) {
	own = append([]string{"lost+found"}, own...)
	s := &Seen{nodes: make(map[string]*node, len(entries)), names: make(map[uint64]uint64), unreadable: make(map[string]unix.Errno)}
	for _, e := range entries {
		p := path.Clean(e.Path)
		s.names[e.Inode]++
		top, _, _ := strings.Cut(p, "/")
		if slices.ContainsFunc(own, func(pattern string) bool { is, _ := path.Match(pattern, top); return is }) {
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
	for p, n := range s.nodes {
		if n.Errno != 0 {
			s.unreadable[p] = n.Errno
		}
	}
	for p := range s.nodes { // and what is below them
		for above := p; above != "."; above = path.Dir(above) {
			if s.unreadable[above] != 0 {
				delete(s.nodes, p)
			}
		}
	}
	for p := range s.nodes {
		if p == "." {
			continue
		}
		d := s.nodes[path.Dir(p)]
		if d == nil {
			return nil, fmt.Errorf("%s is in no directory", p)
		}
		d.entries = append(d.entries, path.Base(p))
	}
	for _, n := range s.nodes {
		slices.Sort(n.entries)
	}
	return s, nil
}

func (n *node) kind() Kind {
	switch n.Mode & unix.S_IFMT {
	case unix.S_IFDIR:
		return Dir
	case unix.S_IFREG:
		return File
	case unix.S_IFLNK:
		return Symbolic
	}
	return 0
}

// A Want is a file of which more has to be known.
type Want struct {
	Path   string // from the root, with "/"
	Data   bool   // its content, Size bytes
	Size   uint64
	Xattrs bool
}

// Wants lists what has to be read beside the tree for Equal and Allowed: the extended attributes of all but symbolic links, and
// the contents of files of which a checksum does not say that they are what f has now.
func (s *Seen) Wants(f *FS) (out []Want) {
	sums := make(map[[sha256.Size]byte]bool)
	for _, n := range f.tree.inodes {
		if n.kind == File {
			sums[n.data.now().sum()] = true
		}
	}
	for p, n := range s.nodes {
		w := Want{Path: path.Join("/", p), Size: n.Size}
		w.Xattrs = !f.can.NoXattrs && n.kind() != Symbolic
		w.Data = n.kind() == File && !sums[n.Sum] && n.Size <= MaxContent
		if w.Xattrs || w.Data {
			out = append(out, w)
		}
	}
	slices.SortFunc(out, func(a, b Want) int { return cmp.Compare(a.Path, b.Path) })
	return out
}

// SetData gives the content of a file, by a path of Wants.
func (s *Seen) SetData(p string, data []byte) {
	n := s.nodes[below(p)]
	n.data, n.whole = data, uint64(len(data)) == n.Size && sha256.Sum256(data) == n.Sum
}

// SetXattrs gives the extended attributes of a file, those of users, by a path of Wants.
func (s *Seen) SetXattrs(p string, x map[string]string) { s.nodes[below(p)].xattrs = x }

func below(p string) string { return path.Join(".", p) }

// Seen is the tree that f has now, as Look would find it.
func (f *FS) Seen() *Seen {
	s := &Seen{nodes: make(map[string]*node), names: make(map[uint64]uint64)}
	var walk func(i int, p string)
	walk = func(i int, p string) {
		n := f.tree.inodes[i]
		a := n.attrs.now()
		e := agent.Entry{Path: p, Inode: uint64(i), Links: uint64(n.links), UID: a.uid, GID: a.gid, Target: n.target,
			Mode: a.mode | [...]uint32{Dir: unix.S_IFDIR, File: unix.S_IFREG, Symbolic: unix.S_IFLNK}[n.kind]}
		here := &node{Entry: e, xattrs: a.xattrs, entries: n.current()}
		if n.kind == File {
			c := n.data.now()
			here.Size, here.Sum = c.size, c.sum()
			here.data, here.whole = make([]byte, c.size), true
			c.read(here.data, 0)
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

// Same says where another tree differs from s: what two recoveries of one crash gave. A *Wrong names the first difference.
func (s *Seen) Same(other *Seen) error {
	for _, p := range slices.Sorted(maps.Keys(s.nodes)) {
		a, b := s.nodes[p], other.nodes[p]
		switch {
		case b == nil:
			return wrongf("not the same", "/%s was there, and is gone", p)
		case a.Mode != b.Mode || a.UID != b.UID || a.GID != b.GID || a.Target != b.Target || a.Sum != b.Sum || a.kind() == File && a.Size != b.Size:
			return wrongf("not the same", "/%s: mode %#o, %d:%d, %d bytes; and then mode %#o, %d:%d, %d bytes", p, a.Mode, a.UID, a.GID, a.Size, b.Mode,
				b.UID, b.GID, b.Size)
		case !maps.Equal(a.xattrs, b.xattrs):
			return wrongf("not the same", "/%s: attributes %q, and then %q", p, a.xattrs, b.xattrs)
		}
	}
	for _, p := range slices.Sorted(maps.Keys(other.nodes)) {
		if s.nodes[p] == nil {
			return wrongf("not the same", "/%s was not there, and is", p)
		}
	}
	return nil
}

// Entries are the files, as agent.Tree has them, in order of paths.
func (s *Seen) Entries() (out []agent.Entry) {
	for _, p := range slices.Sorted(maps.Keys(s.nodes)) {
		out = append(out, s.nodes[p].Entry)
	}
	return out
}

// Xattrs are the extended attributes of a file, by its path from the root.
func (s *Seen) Xattrs(p string) map[string]string {
	if n := s.nodes[below(p)]; n != nil {
		return n.xattrs
	}
	return nil
}

// Kind is what a path leads to, if it leads anywhere.
func (s *Seen) Kind(p string) (k Kind, ok bool) {
	n := s.nodes[below(p)]
	if n == nil {
		return 0, false
	}
	return n.kind(), true
}
