package model

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"maps"
	"slices"
)

// Signature is the same for trees that differ only in names and in inode numbers, and for no others (targets of symbolic links are
// compared as they are written): it is a hash of the tree with
// its names numbered anew, in the one order of all that gives the least encoding. What may be on the disk does not count.
func (f *FS) Signature() []byte { return f.labeler(false).graph().canonical() }

// StableSignature is Signature of what is, and of what may be there after a crash.
func (f *FS) StableSignature() []byte { return f.labeler(true).graph().canonical() }

// graph is what a signature is made of: inodes and names, by what they are, and what leads where. What is compared are the labels of
// vertices and edges.
type graph struct {
	labels []string
	edges  [][]edge // from each vertex
}

type edge struct {
	to    int
	label uint32
}

// A labeler says of the inodes and names of a file system what tells them apart.
type labeler struct {
	f       *FS
	history bool        // also what may be there after a crash
	rank    map[int]int // of the moments of histories: how many operations are in between does not count
}

func (f *FS) labeler(history bool) labeler {
	moments := f.disk.moments(&f.tree)
	l := labeler{f, history, make(map[int]int)}
	for i, at := range moments {
		l.rank[at] = len(moments) - 1 - i
	}
	return l
}

// graph makes names into vertices as well as inodes: a name that led to several inodes in turn is one
// thing.
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
			if len(list) == 1 && list[0].what == 0 {
				continue
			}
			v := g.vertex(fmt.Sprint("name ", len(list)))
			g.join(at[i], v, 0)
			for _, w := range list {
				if w.what != 0 {
					g.join(v, at[w.what], l.when(w.at))
				}
			}
		}
	}
	return g
}

// name returns the inodes that a name leads to.
func (l labeler) name(d *inode, e *name) history[int] {
	if l.history {
		return e.since(l.f.disk.nameSince(d, e))
	}
	return e.history[len(e.history)-1:]
}

// when returns the label of the edge from a name to what it led to from a moment on.
func (l labeler) when(at int) uint32 {
	if l.history {
		return 1 + uint32(l.rank[at])
	}
	return 1
}

// vertex adds a vertex, and returns its number.
func (g *graph) vertex(label string) int {
	g.labels, g.edges = append(g.labels, label), append(g.edges, nil)
	return len(g.labels) - 1
}

// join adds an edge in both directions.
func (g *graph) join(a, b int, label uint32) {
	g.edges[a] = append(g.edges[a], edge{b, label})
	g.edges[b] = append(g.edges[b], edge{a, label | 1<<31})
}

// label returns what an inode is.
func (l labeler) label(i int, n *inode) string {
	var b bytes.Buffer
	fmt.Fprintf(&b, "%d %t %t %q", n.kind, i == root, n.open > 0, n.target)
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
			cs = n.data.since(l.f.disk.dataSince(n, l.f.disk.meta))
		}
		fmt.Fprintf(&b, " %t", l.f.disk.there(n))
	}
	for _, v := range as {
		put(v.at, true, v.what) // fmt prints maps in the order of their keys
	}
	for _, v := range cs {
		put(v.at, v.meta, v.what)
	}
	return b.String()
}

// maxLeaves bounds the orders that are tried. Beyond it the signature is still that of this tree alone, but not of all that are
// like it.
const maxLeaves = 2000

// canonical colours the vertices by what they are and what is around them until no colour splits; where several are left of one
// colour, each in turn is set apart. Of all orders that come of it the one with the least encoding counts.
func (g *graph) canonical() []byte {
	colours := make([]int, len(g.labels))
	order := slices.Clone(g.labels)
	slices.Sort(order)
	order = slices.Compact(order)
	for i, l := range g.labels {
		colours[i], _ = slices.BinarySearch(order, l)
	}
	var best []byte
	leaves := 0
	g.search(colours, &best, &leaves)
	sum := sha256.Sum256(best)
	return sum[:]
}

func (g *graph) search(colours []int, best *[]byte, leaves *int) {
	colours = g.refine(colours)
	cells := make(map[int][]int)
	for v, c := range colours {
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
			next := make([]int, len(colours))
			for i, old := range colours {
				next[i] = 2 * old
			}
			next[v]++
			g.search(next, best, leaves)
		}
		return
	}
	*leaves++
	if code := g.encode(colours); *best == nil || bytes.Compare(code, *best) < 0 {
		*best = code
	}
}

// refine splits colours by the colours around until none splits any more. Colours are then 0, 1, … .
func (g *graph) refine(colours []int) []int {
	kinds := 0
	for {
		keys := make([]string, len(colours))
		for v, c := range colours {
			around := make([]string, 0, len(g.edges[v]))
			for _, e := range g.edges[v] {
				around = append(around, fmt.Sprintf("%08x %08x", e.label, colours[e.to]))
			}
			slices.Sort(around)
			keys[v] = fmt.Sprintf("%08x %v", c, around)
		}
		order := slices.Clone(keys)
		slices.Sort(order)
		order = slices.Compact(order)
		next := make([]int, len(colours))
		for v, k := range keys {
			next[v], _ = slices.BinarySearch(order, k)
		}
		colours = next
		if len(order) == kinds {
			return colours
		}
		kinds = len(order)
	}
}

// encode is the graph in the order of the colours, which are all different.
func (g *graph) encode(colours []int) []byte {
	at := make([]int, len(colours))
	for v, c := range colours {
		at[c] = v
	}
	var out []byte
	for _, v := range at {
		edges := make([][2]uint32, 0, len(g.edges[v]))
		for _, e := range g.edges[v] {
			edges = append(edges, [2]uint32{uint32(colours[e.to]), e.label})
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

// Key is the same only for file systems of which Equal and Allowed say the same, names and all. Others may have different ones as well.
func (f *FS) Key() string {
	h := sha256.New()
	l := f.labeler(true)
	fmt.Fprintf(h, "%+v", f.can)
	for _, i := range slices.Sorted(maps.Keys(f.tree.inodes)) {
		n := f.tree.inodes[i]
		fmt.Fprintf(h, "\n%d %s %d %d", i, l.label(i, n), n.links, l.rank[n.named])
		for _, s := range slices.Sorted(maps.Keys(n.names)) {
			fmt.Fprintf(h, " %q", s)
			for _, v := range l.name(n, n.names[s]) {
				fmt.Fprintf(h, " %d@%d", v.what, l.rank[v.at])
			}
		}
	}
	return string(h.Sum(nil))
}
