package crash

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/google/btree"
)

// numberedPage is a page in a tree.
type numberedPage struct {
	number  uint64
	content page
}

// pageTree returns a tree of pages in the order of their numbers. The benchmark compares it with
// the map of a layer (decision 33).
func pageTree() *btree.BTreeG[numberedPage] {
	return btree.NewG(32, func(a, b numberedPage) bool { return a.number < b.number })
}

// BenchmarkPages compares a map of pages with a tree: it sets pages in random order, looks one up,
// and visits all in the order of their numbers, as State.Pages does.
func BenchmarkPages(b *testing.B) {
	for _, n := range []int{10, 1000, 100_000} {
		at := rand.New(rand.NewPCG(1, 0)).Perm(n)
		set := func(add func(number uint64)) {
			for _, i := range at {
				add(uint64(i))
			}
		}
		fillMap := func() map[uint64]page {
			pages := make(map[uint64]page)
			set(func(number uint64) { pages[number] = page{} })
			return pages
		}
		fillTree := func() *btree.BTreeG[numberedPage] {
			tree := pageTree()
			set(func(number uint64) { tree.ReplaceOrInsert(numberedPage{number: number, content: page{}}) })
			return tree
		}
		perPage := func(b *testing.B) {
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(n), "ns/page")
		}
		b.Run(fmt.Sprintf("set/map/%d", n), func(b *testing.B) {
			for b.Loop() {
				fillMap()
			}
			perPage(b)
		})
		b.Run(fmt.Sprintf("set/btree/%d", n), func(b *testing.B) {
			for b.Loop() {
				fillTree()
			}
			perPage(b)
		})
		pages, tree := fillMap(), fillTree()
		b.Run(fmt.Sprintf("look/map/%d", n), func(b *testing.B) {
			for i := 0; b.Loop(); i++ {
				_ = pages[uint64(at[i%n])]
			}
		})
		b.Run(fmt.Sprintf("look/btree/%d", n), func(b *testing.B) {
			for i := 0; b.Loop(); i++ {
				tree.Get(numberedPage{number: uint64(at[i%n])})
			}
		})
		b.Run(fmt.Sprintf("visit/map/%d", n), func(b *testing.B) {
			for b.Loop() {
				for _, number := range slices.Sorted(maps.Keys(pages)) {
					_ = pages[number]
				}
			}
			perPage(b)
		})
		b.Run(fmt.Sprintf("visit/btree/%d", n), func(b *testing.B) {
			for b.Loop() {
				tree.Ascend(func(numberedPage) bool { return true })
			}
			perPage(b)
		})
	}
}

// flightTree holds the units in flight in the order of their addresses. The benchmark compares it
// with the slice of an Enumerator in the order of issue, and its index by page (decision 33). No
// span is longer than longest.
type flightTree struct {
	units   *btree.BTreeG[*unit]
	longest uint64
}

func newFlightTree() *flightTree {
	return &flightTree{units: btree.NewG(32, func(a, b *unit) bool {
		return cmp.Or(cmp.Compare(a.writeOff, b.writeOff), cmp.Compare(a.seq, b.seq)) < 0
	})}
}

func (t *flightTree) enter(u *unit) {
	t.units.ReplaceOrInsert(u)
	t.longest = max(t.longest, u.spans[0].len)
}

// lastAt does what pageIndex.lastAt does.
func (t *flightTree) lastAt(s span) (last *unit) {
	from := &unit{writeOff: s.off + s.len - 1, seq: math.MaxUint64}
	t.units.DescendLessOrEqual(from, func(u *unit) bool {
		if u.writeOff+t.longest <= s.off {
			return false
		}
		if u.overlaps(s.off, s.len) && (last == nil || u.seq > last.seq) {
			last = u
		}
		return true
	})
	return last
}

// BenchmarkFlight compares a slice of units in flight with a tree: it enters units of one page each
// in random order, and looks for the last unit of a page that is in flight and of one that is not.
func BenchmarkFlight(b *testing.B) {
	for _, n := range []int{10, 100, 1000, 10_000} {
		var units []*unit
		for i, at := range rand.New(rand.NewPCG(1, 0)).Perm(n) {
			off := 2 * uint64(at) * PageSize
			spans := []span{{off: off, len: PageSize}}
			units = append(units, &unit{id: uint64(i), writeOff: off, seq: uint64(i), spans: spans})
		}
		perUnit := func(b *testing.B) {
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(n), "ns/unit")
		}
		b.Run(fmt.Sprintf("enter/slice/%d", n), func(b *testing.B) {
			for b.Loop() {
				e := &Enumerator{}
				enter := func(u *unit) { e.flight = append(e.flight, u) }
				for _, u := range units {
					enter(u)
				}
			}
			perUnit(b)
		})
		b.Run(fmt.Sprintf("enter/btree/%d", n), func(b *testing.B) {
			for b.Loop() {
				t := newFlightTree()
				for _, u := range units {
					t.enter(u)
				}
			}
			perUnit(b)
		})
		e, t := &Enumerator{flight: units}, newFlightTree()
		for _, u := range units {
			t.enter(u)
		}
		for name, shift := range map[string]uint64{"there": 0, "not there": PageSize} {
			b.Run(fmt.Sprintf("%s/index/%d", name, n), func(b *testing.B) {
				for i := 0; b.Loop(); i++ {
					e.pages().lastAt(span{off: units[i%n].writeOff + shift, len: PageSize})
				}
			})
			b.Run(fmt.Sprintf("%s/btree/%d", name, n), func(b *testing.B) {
				for i := 0; b.Loop(); i++ {
					t.lastAt(span{off: units[i%n].writeOff + shift, len: PageSize})
				}
			})
		}
	}
}
