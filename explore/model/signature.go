package model

import (
	"bytes"
	"crypto/sha256"
	"fmt"
	"maps"
	"slices"
)

// Signature returns a hash of the current tree. Up to a bound (maxLeaves), it is the same for two
// trees exactly if they differ only in names and inode numbers. Targets of symbolic links are
// compared as text. It is a hash of the least encoding of the tree over all orders of its names and
// inodes. Durability has no effect.
func (f *FS) Signature() []byte { return f.labeler(false).graph().canonical() }

// StableSignature is Signature of the current tree together with the trees that a crash may leave.
func (f *FS) StableSignature() []byte { return f.labeler(true).graph().canonical() }

// A labeler describes the inodes and names of a file system by their properties, without names and
// inode numbers.
type labeler struct {
	f       *FS
	history bool // include the versions that a crash may leave
	// rank numbers the moments of histories without gaps, so that operations without an effect on
	// the tree do not count.
	rank map[int]int
}

// labeler returns a labeler for the current tree, and with history for crash states.
func (f *FS) labeler(history bool) labeler {
	moments := f.disk.moments(&f.tree)
	l := labeler{f, history, make(map[int]int)}
	for i, at := range moments {
		l.rank[at] = len(moments) - 1 - i
	}
	return l
}

// graph returns the graph of the tree. A name is a vertex too, because it may have referred to
// several inodes in turn.
func (l labeler) graph() *graph {
	g, _ := l.graphWithNames()
	return g
}

// graphWithNames also returns the vertices of names, by the inode of their directory and the name.
// The root has the name "" in itself.
func (l labeler) graphWithNames() (*graph, map[location]int) {
	g, named := new(graph), make(map[location]int)
	at := make(map[int]int)
	inodes := l.f.tree.inodes
	for _, i := range slices.Sorted(maps.Keys(inodes)) {
		if n := inodes[i]; l.history || n.links > 0 || n.open > 0 {
			at[i] = g.vertex(l.label(i, n))
		}
	}
	named[location{dir: root}] = at[root]
	for _, i := range slices.Sorted(maps.Keys(at)) {
		d := inodes[i]
		for _, s := range slices.Sorted(maps.Keys(d.names)) {
			list := l.name(d, d.names[s])
			if len(list) == 1 && list[0].value == 0 {
				continue
			}
			v := g.vertex(fmt.Sprint("name ", len(list)))
			named[location{i, s}] = v
			g.join(at[i], v, 0)
			for _, w := range list {
				if w.value != 0 {
					g.join(v, at[w.value], l.edgeLabel(w.at))
				}
			}
		}
	}
	return g, named
}

// name returns the inodes that a name refers to, or after a crash may refer to.
func (l labeler) name(d *inode, e *name) history[int] {
	if l.history {
		return e.since(l.f.disk.nameSince(d, e))
	}
	return e.history[len(e.history)-1:]
}

// edgeLabel returns the label of the edge from a name to an inode to which it refers since a
// moment.
func (l labeler) edgeLabel(at int) uint32 {
	if l.history {
		return 1 + uint32(l.rank[at])
	}
	return 1
}

// label returns the properties of an inode as text.
func (l labeler) label(i int, n *inode) string {
	var b bytes.Buffer
	fmt.Fprintf(&b, "%d %t %t %s %q %d %t", n.kind, i == root, i == n.volume, l.f.files.label(i),
		n.target, n.node, n.linkable)
	put := func(at int, ordered bool, v any) {
		if l.history {
			fmt.Fprintf(&b, " @%d %t", l.rank[at], ordered)
		}
		fmt.Fprintf(&b, " %v", v)
	}
	as, cs := n.attrs[len(n.attrs)-1:], n.data
	if n.kind == File {
		cs = cs[len(cs)-1:]
	}
	if l.history {
		as = n.attrs.since(l.f.disk.metaSince(n))
		if n.kind == File {
			cs = n.data.since(l.f.disk.dataSince(n))
		}
		fmt.Fprintf(&b, " %t %v", l.f.disk.isDurable(n), n.times())
		for _, r := range n.ranges {
			fmt.Fprintf(&b, " %d-%d since %d", r.off, r.end, l.rank[n.data[max(0, n.data.at(r.at))].at])
		}
	}
	for _, v := range as {
		put(v.at, true, v.value) // fmt prints maps in the order of their keys
	}
	for _, v := range cs {
		put(v.at, v.meta, v.value)
		if l.history && v.by != (allocation{}) {
			fmt.Fprintf(&b, " by %v", v.by)
		}
	}
	return b.String()
}

// Key returns a hash that includes names. If two file systems have the same key, Equal and Allowed
// give the same results for both. The converse does not hold.
func (f *FS) Key() string {
	h := sha256.New()
	l := f.labeler(true)
	fmt.Fprintf(h, "%+v", f.promises)
	for _, i := range slices.Sorted(maps.Keys(f.tree.inodes)) {
		n := f.tree.inodes[i]
		fmt.Fprintf(h, "\n%d %s %d %d", i, l.label(i, n), n.links, l.rank[n.named])
		for _, s := range slices.Sorted(maps.Keys(n.names)) {
			fmt.Fprintf(h, " %q", s)
			for _, v := range l.name(n, n.names[s]) {
				fmt.Fprintf(h, " %d@%d", v.value, l.rank[v.at])
			}
		}
	}
	return string(h.Sum(nil))
}
