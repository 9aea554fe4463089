package overlay

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/google/btree"
)

// A blockSet holds the blocks of all ranges that were added, and counts each once.
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

// extents is the same set as a tree of ranges that are apart from each other, to compare with (decision 33).
type extents struct {
	tree *btree.BTreeG[extent]
	gone []extent
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

// BenchmarkBlockSet adds single blocks that do not touch, asks for blocks, and adds a whole disk.
func BenchmarkBlockSet(b *testing.B) {
	type set interface {
		has(block uint64) bool
		add(from, to uint64)
	}
	for name, make := range map[string]func() set{
		"bitmap": func() set { s := newBlockSet(); return &s },
		"btree":  func() set { return newExtents() },
	} {
		for _, n := range []int{10, 1000, 100_000} {
			for _, order := range []string{"sequential", "random"} {
				at := rand.New(rand.NewPCG(1, 0)).Perm(n)
				if order == "sequential" {
					for i := range at {
						at[i] = i
					}
				}
				fill := func() set {
					s := make()
					for _, i := range at {
						s.add(2*uint64(i), 2*uint64(i)+1)
					}
					return s
				}
				b.Run(fmt.Sprintf("add/%s/%d/%s", name, n, order), func(b *testing.B) {
					for b.Loop() {
						fill()
					}
					b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(n), "ns/block")
				})
				b.Run(fmt.Sprintf("has/%s/%d/%s", name, n, order), func(b *testing.B) {
					s := fill()
					for i := 0; b.Loop(); i++ {
						s.has(2 * uint64(at[i%n]))
					}
				})
			}
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
