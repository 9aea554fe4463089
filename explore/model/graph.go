package model

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"maps"
	"slices"
)

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

// maxLeaves bounds the orders that are tried. If there are more, isomorphic trees may have
// different signatures, but trees with equal signatures are still isomorphic.
const maxLeaves = 2000

// canonical returns the hash of the canonical form of the graph. It refines a coloring of the
// vertices. Where several vertices keep the same color, it branches, with each of them in turn as
// the first. The least encoding of all branches is the canonical form.
func (g *graph) canonical() []byte {
	var best []byte
	leaves := 0
	g.search(g.colors(), &best, &leaves)
	sum := sha256.Sum256(best)
	return sum[:]
}

// colors returns the colors of the vertices by their labels.
func (g *graph) colors() []int {
	colors := make([]int, len(g.labels))
	order := slices.Clone(g.labels)
	slices.Sort(order)
	order = slices.Compact(order)
	for i, l := range g.labels {
		colors[i], _ = slices.BinarySearch(order, l)
	}
	return colors
}

// rigid reports whether the graph has no symmetry: the refined colors tell all its vertices apart.
// If it reports false, there may be a symmetry.
func (g *graph) rigid() bool {
	colors := g.refine(g.colors())
	slices.Sort(colors)
	return len(slices.Compact(colors)) == len(g.labels)
}

// twins reports whether two vertices have the same label and the same edges, so that their order
// does not matter.
func (g *graph) twins(v, w int) bool {
	return g.labels[v] == g.labels[w] && slices.Equal(g.edges[v], g.edges[w])
}

// search refines the colors and branches until each vertex has its own, and keeps the least
// encoding in best. leaves counts the encodings. Of several twins it tries the first alone.
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
		for i, v := range cells[c] {
			twin := func(w int) bool { return g.twins(v, w) }
			if slices.ContainsFunc(cells[c][:i], twin) {
				continue
			}
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
