package model

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
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

// A graph has a vertex for each inode and each name, and edges between names, their directories and
// their inodes. Trees are equal but for names if their labeled graphs are isomorphic.
type graph struct {
	labels []string
	edges  [][]edge // by the vertex from which they start
}

type edge struct {
	to    int
	label uint32
}

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
	g := new(graph)
	at := make(map[int]int)
	inodes := l.f.tree.inodes
	for _, i := range slices.Sorted(maps.Keys(inodes)) {
		if n := inodes[i]; l.history || n.links > 0 || n.open > 0 {
			at[i] = g.vertex(l.label(i, n))
		}
	}
	for _, i := range slices.Sorted(maps.Keys(at)) {
		d := inodes[i]
		for _, s := range slices.Sorted(maps.Keys(d.names)) {
			list := l.name(d, d.names[s])
			if len(list) == 1 && list[0].value == 0 {
				continue
			}
			v := g.vertex(fmt.Sprint("name ", len(list)))
			g.join(at[i], v, 0)
			for _, w := range list {
				if w.value != 0 {
					g.join(v, at[w.value], l.edgeLabel(w.at))
				}
			}
		}
	}
	return g
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

// vertex adds a vertex and returns its number.
func (g *graph) vertex(label string) int {
	g.labels, g.edges = append(g.labels, label), append(g.edges, nil)
	return len(g.labels) - 1
}

// join adds an edge in each direction. The high bit of the label marks the reverse direction.
func (g *graph) join(a, b int, label uint32) {
	g.edges[a] = append(g.edges[a], edge{b, label})
	g.edges[b] = append(g.edges[b], edge{a, label | 1<<31})
}

// label returns the properties of an inode as text.
func (l labeler) label(i int, n *inode) string {
	var b bytes.Buffer
	fmt.Fprintf(&b, "%d %t %s %q %d %t", n.kind, i == root, l.f.files.label(i), n.target, n.node,
		n.linkable)
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
		fmt.Fprintf(&b, " %t", l.f.disk.isDurable(n))
		for _, r := range n.ranges {
			fmt.Fprintf(&b, " %d-%d since %d", r.off, r.end, l.rank[n.data[max(0, n.data.at(r.at))].at])
		}
	}
	for _, v := range as {
		put(v.at, true, v.value) // fmt prints maps in the order of their keys
	}
	for _, v := range cs {
		put(v.at, v.meta, v.value)
	}
	return b.String()
}

// maxLeaves bounds the orders that are tried. If there are more, isomorphic trees may have
// different signatures, but trees with equal signatures are still isomorphic.
const maxLeaves = 2000

// canonical returns the hash of the canonical form of the graph. It refines a coloring of the
// vertices. Where several vertices keep the same color, it branches, with each of them in turn as
// the first. The least encoding of all branches is the canonical form.
func (g *graph) canonical() []byte {
	colors := make([]int, len(g.labels))
	order := slices.Clone(g.labels)
	slices.Sort(order)
	order = slices.Compact(order)
	for i, l := range g.labels {
		colors[i], _ = slices.BinarySearch(order, l)
	}
	var best []byte
	leaves := 0
	g.search(colors, &best, &leaves)
	sum := sha256.Sum256(best)
	return sum[:]
}

// search refines the colors and branches until each vertex has its own, and keeps the least
// encoding in best. leaves counts the encodings.
func (g *graph) search(colors []int, best *[]byte, leaves *int) {
	colors = g.refine(colors)
	cells := make(map[int][]int)
	for v, c := range colors {
		cells[c] = append(cells[c], v)
	}
	for _, c := range slices.Sorted(maps.Keys(cells)) {
		if len(cells[c]) == 1 {
			continue
		}
		for _, v := range cells[c] {
			if *leaves >= maxLeaves && *best != nil {
				return
			}
			next := make([]int, len(colors))
			for i, old := range colors {
				next[i] = 2 * old
			}
			next[v]++
			g.search(next, best, leaves)
		}
		return
	}
	*leaves++
	if code := g.encode(colors); *best == nil || bytes.Compare(code, *best) < 0 {
		*best = code
	}
}

// refine splits colors by the colors of adjacent vertices until the number of colors stays the
// same. It numbers them from 0 without gaps.
func (g *graph) refine(colors []int) []int {
	kinds := 0
	for {
		keys := make([]string, len(colors))
		for v, c := range colors {
			around := make([]string, 0, len(g.edges[v]))
			for _, e := range g.edges[v] {
				around = append(around, fmt.Sprintf("%08x %08x", e.label, colors[e.to]))
			}
			slices.Sort(around)
			keys[v] = fmt.Sprintf("%08x %v", c, around)
		}
		order := slices.Clone(keys)
		slices.Sort(order)
		order = slices.Compact(order)
		next := make([]int, len(colors))
		for v, k := range keys {
			next[v], _ = slices.BinarySearch(order, k)
		}
		colors = next
		if len(order) == kinds {
			return colors
		}
		kinds = len(order)
	}
}

// encode returns the graph as bytes, in the order of the colors. Each vertex has its own color.
func (g *graph) encode(colors []int) []byte {
	at := make([]int, len(colors))
	for v, c := range colors {
		at[c] = v
	}
	var out []byte
	for _, v := range at {
		edges := make([][2]uint32, 0, len(g.edges[v]))
		for _, e := range g.edges[v] {
			edges = append(edges, [2]uint32{uint32(colors[e.to]), e.label})
		}
		slices.SortFunc(edges, func(a, b [2]uint32) int { return slices.Compare(a[:], b[:]) })
		out = binary.AppendUvarint(out, uint64(len(g.labels[v])))
		out = append(out, g.labels[v]...)
		out = binary.AppendUvarint(out, uint64(len(edges)))
		for _, e := range edges {
			out = binary.AppendUvarint(binary.AppendUvarint(out, uint64(e[0])), uint64(e[1]))
		}
	}
	return out
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
