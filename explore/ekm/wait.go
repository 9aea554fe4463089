package ekm

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// longestWait bounds the threads of a circular wait.
const longestWait = 4

// maxPaths bounds the paths that wait for their continuation while a cycle is searched for.
const maxPaths = 1024

// maxWaits bounds the circular waits that are reported.
const maxWaits = 16

// circularWaits returns the shortest cycles through each edge of a graph of locks, of at most
// longestWait edges. It leaves out a cycle with a gate: a lock that is held at each of its edges
// lets only one thread in.
func circularWaits(edges []LockEdge) (out []Finding) {
	from := make(map[uint64][]LockEdge)
	for _, e := range edges {
		from[e.From] = append(from[e.From], e)
	}
	seen := make(map[string]bool)
	for _, e := range edges {
		cycle := findCycle(from, e)
		if cycle == nil || len(out) == maxWaits {
			continue
		}
		f := describeCycle(cycle)
		if !seen[f.Text] {
			seen[f.Text] = true
			out = append(out, f)
		}
	}
	return out
}

// A lockPath is a path in the graph of locks, with the locks that were held at each of its edges.
type lockPath struct {
	edges []LockEdge
	gates []uint64
}

// findCycle returns a shortest cycle without a gate that begins with an edge; nil: there is none.
func findCycle(from map[uint64][]LockEdge, first LockEdge) []LockEdge {
	queue := []lockPath{{[]LockEdge{first}, first.Gates}}
	visited := make(map[uint64]bool)
	for len(queue) > 0 {
		p := queue[0]
		queue = queue[1:]
		last := p.edges[len(p.edges)-1]
		for _, e := range from[last.To] {
			gates := slices.DeleteFunc(slices.Clone(p.gates), func(g uint64) bool {
				return !slices.Contains(e.Gates, g)
			})
			cycle := append(slices.Clone(p.edges), e)
			if e.To == first.From && len(gates) == 0 {
				return cycle
			}
			if len(cycle) < longestWait && len(queue) < maxPaths && !visited[e.To] && e.To != first.From {
				visited[e.To] = len(gates) == 0
				queue = append(queue, lockPath{cycle, gates})
			}
		}
	}
	return nil
}

// describeCycle returns the finding of a cycle. It begins with the edge whose text is the least, so
// that the finding is the same for each edge of the cycle, and in each boot.
func describeCycle(cycle []LockEdge) Finding {
	name := func(known string) string { return cmp.Or(known, "a lock") }
	lines := make([]string, len(cycle))
	for i, e := range cycle {
		lines[i] = fmt.Sprintf("%s, taken at %s, was held when %s was wanted at %s",
			name(e.FromName), e.FromSite, name(e.ToName), e.ToSite)
	}
	least := slices.Index(lines, slices.Min(lines))
	text := strings.Join(slices.Concat(lines[least:], lines[:least]), "; ")
	return Finding{Kind: CircularWait, Hits: 1, Comm: cycle[least].Comm, Text: text}
}
