package btrfs

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/google/btree"
)

// An unflushedTree is unflushed as a B-tree in the order of addresses. The benchmark compares both
// (docs/decisions/0033).
type unflushedTree struct {
	writes *btree.BTreeG[sequencedWrite]
	gone   []sequencedWrite
}

func newUnflushedTree() *unflushedTree {
	return &unflushedTree{writes: btree.NewG(32, func(a, b sequencedWrite) bool {
		return cmp.Or(cmp.Compare(a.addr, b.addr), cmp.Compare(a.seq, b.seq)) < 0
	})}
}

func (u *unflushedTree) add(addr, n, seq uint64) {
	u.writes.ReplaceOrInsert(sequencedWrite{addr, n, seq})
}

func (u *unflushedTree) flushed(from, to, seq uint64) {
	u.gone = u.gone[:0]
	first, end := sequencedWrite{addr: from}, sequencedWrite{addr: to}
	u.writes.AscendRange(first, end, func(w sequencedWrite) bool {
		if w.seq <= seq {
			u.gone = append(u.gone, w)
		}
		return true
	})
	if len(u.gone) == u.writes.Len() {
		u.writes.Clear(true)
		return
	}
	for _, w := range u.gone {
		u.writes.Delete(w)
	}
}

func (u *unflushedTree) ranges() []addrRange {
	out := make([]addrRange, 0, u.writes.Len())
	u.writes.Ascend(func(w sequencedWrite) bool {
		if last := len(out) - 1; last >= 0 && w.addr <= out[last].addr+out[last].n {
			out[last].n = max(out[last].n, w.addr+w.n-out[last].addr)
		} else {
			out = append(out, addrRange{w.addr, w.n})
		}
		return true
	})
	return out
}

// BenchmarkUnflushed measures writes followed by a flush, a commit without a flush, and a write and
// a flush of another disk while other writes stay.
func BenchmarkUnflushed(b *testing.B) {
	type set interface {
		add(addr, n, seq uint64)
		flushed(from, to, seq uint64)
		ranges() []addrRange
	}
	const block, other, all = 16 << 10, 1 << 50, 1 << 60
	for name, make := range map[string]func() set{
		"slice": func() set { return &unflushed{seen: true} },
		"btree": func() set { return newUnflushedTree() },
	} {
		for _, n := range []int{10, 1000, maxUnflushed} {
			for _, order := range []string{"sequential", "random"} {
				at := rand.New(rand.NewPCG(1, 0)).Perm(n)
				if order == "sequential" {
					for i := range at {
						at[i] = i
					}
				}
				fill := func(s set) {
					for i, p := range at {
						s.add(2*uint64(p)*block, block, uint64(i))
					}
				}
				sub := fmt.Sprintf("%s/%d/%s", name, n, order)
				b.Run("write/"+sub, func(b *testing.B) {
					for s := make(); b.Loop(); {
						fill(s)
						s.flushed(0, all, uint64(n))
					}
					writes := float64(b.N) * float64(n)
					b.ReportMetric(float64(b.Elapsed().Nanoseconds())/writes, "ns/write")
				})
				s := make()
				fill(s)
				b.Run("commit/"+sub, func(b *testing.B) {
					for b.Loop() {
						s.ranges()
					}
				})
				b.Run("other/"+sub, func(b *testing.B) {
					for b.Loop() {
						s.add(other, block, all)
						s.flushed(other, 2*other, all)
					}
				})
			}
		}
	}
}
