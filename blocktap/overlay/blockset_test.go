package overlay

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/google/btree"
)

// TestBlockSet checks that a blockSet contains the blocks of all added ranges and counts each block
// once.
func TestBlockSet(t *testing.T) {
	const blocks = 3 * chunkBlocks
	r := rand.New(rand.NewPCG(1, 0))
	s, want := newBlockSet(), make(map[uint64]bool)
	for range 200 {
		from := r.Uint64N(blocks)
		to := min(from+r.Uint64N(1<<r.IntN(13)), blocks)
		s.add(from, to)
		for b := from; b < to; b++ {
			want[b] = true
		}
		if s.n != uint64(len(want)) {
			t.Fatalf("after [%d, %d): %d blocks, want %d", from, to, s.n, len(want))
		}
	}
	for b := range uint64(blocks) {
		if s.has(b) != want[b] {
			t.Fatalf("block %d: %t, want %t", b, s.has(b), want[b])
		}
	}
}

// extents is a set of blocks as a tree of disjoint ranges, for comparison (decision 33).
type extents struct {
	tree *btree.BTreeG[extent]
	gone []extent // the ranges that add merges; kept to reuse its memory
}

type extent struct{ from, to uint64 }

func newExtents() *extents {
	return &extents{tree: btree.NewG(32, func(a, b extent) bool { return a.from < b.from })}
}

func (s *extents) has(block uint64) (has bool) {
	s.tree.DescendLessOrEqual(extent{from: block}, func(e extent) bool {
		has = block < e.to
		return false
	})
	return has
}

func (s *extents) add(from, to uint64) {
	s.gone = s.gone[:0]
	s.tree.DescendLessOrEqual(extent{from: to}, func(e extent) bool {
		if e.to < from {
			return false
		}
		from, to = min(from, e.from), max(to, e.to)
		s.gone = append(s.gone, e)
		return true
	})
	for _, e := range s.gone {
		s.tree.Delete(e)
	}
	s.tree.ReplaceOrInsert(extent{from, to})
}

// set is a blockSet or the set that it is compared with.
type set interface {
	has(block uint64) bool
	add(from, to uint64)
}

// BenchmarkBlockSet adds single blocks that are not adjacent, looks up blocks, and adds a whole
// disk.
func BenchmarkBlockSet(b *testing.B) {
	for name, make := range map[string]func() set{
		"bitmap": func() set { s := newBlockSet(); return &s },
		"btree":  func() set { return newExtents() },
	} {
		for _, n := range []int{10, 1000, 100_000} {
			at := rand.New(rand.NewPCG(1, 0)).Perm(n)
			benchmarkBlocks(b, fmt.Sprintf("%s/%d/random", name, n), make, at)
			slices.Sort(at)
			benchmarkBlocks(b, fmt.Sprintf("%s/%d/sequential", name, n), make, at)
		}
		for _, gib := range []uint64{4, 1024} {
			b.Run(fmt.Sprintf("whole/%s/%dGiB", name, gib), func(b *testing.B) {
				for b.Loop() {
					make().add(0, gib<<30/blockSize)
				}
			})
		}
	}
}

// benchmarkBlocks adds the blocks 2*i for each i of at, in this order, and looks them up.
func benchmarkBlocks(b *testing.B, name string, make func() set, at []int) {
	fill := func() set {
		s := make()
		for _, i := range at {
			s.add(2*uint64(i), 2*uint64(i)+1)
		}
		return s
	}
	b.Run("add/"+name, func(b *testing.B) {
		for b.Loop() {
			fill()
		}
		blocks := float64(b.N) * float64(len(at))
		b.ReportMetric(float64(b.Elapsed().Nanoseconds())/blocks, "ns/block")
	})
	b.Run("has/"+name, func(b *testing.B) {
		s := fill()
		for i := 0; b.Loop(); i++ {
			s.has(2 * uint64(at[i%len(at)]))
		}
	})
}
