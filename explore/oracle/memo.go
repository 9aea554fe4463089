package oracle

import (
	"slices"

	"fsward/explore/crash"
)

// A memo knows verdicts of the states of one point of a log: they differ in the pages in flight alone. A verdict depends on
// those of them that were asked for. Another state in which these hold the same has the same verdict: judging it would ask the
// same and be answered the same, whatever the other pages hold.
type memo struct {
	point  int
	shapes []*shape // the one that was of use last comes first
}

// maxShapes bounds the sets of pages that are tried for a state.
const maxShapes = 64

// A shape is a set of pages that verdicts depend on.
type shape struct {
	pages    []uint64 // in order
	verdicts map[crash.Signature]Verdict
}

// of sums up what the pages hold in a state.
func (sh *shape) of(s *crash.State) (sum crash.Signature) {
	for _, number := range sh.pages {
		p := s.Page(number)
		sum[0], sum[1] = sum[0]+p[0], sum[1]+p[1]
	}
	return sum
}

// find returns the verdict of a state that is the same in all that mattered.
func (m *memo) find(s *crash.State) (Verdict, bool) {
	if m.point != s.Point {
		*m = memo{point: s.Point}
	}
	for i, sh := range m.shapes {
		if v, ok := sh.verdicts[sh.of(s)]; ok {
			copy(m.shapes[1:i+1], m.shapes[:i])
			m.shapes[0] = sh
			return v, true
		}
	}
	return Verdict{}, false
}

// add remembers a verdict of a state for which these pages were asked for.
func (m *memo) add(s *crash.State, asked map[uint64]struct{}, v Verdict) {
	pages := make([]uint64, 0, len(asked))
	for number := range asked {
		pages = append(pages, number)
	}
	slices.Sort(pages)
	i := slices.IndexFunc(m.shapes, func(sh *shape) bool { return slices.Equal(sh.pages, pages) })
	if i < 0 {
		if i = len(m.shapes); i >= maxShapes {
			i = maxShapes - 1
			m.shapes = m.shapes[:i]
		}
		m.shapes = append(m.shapes, &shape{pages: pages, verdicts: make(map[crash.Signature]Verdict)})
	}
	m.shapes[i].verdicts[m.shapes[i].of(s)] = v
}

func (m *memo) clear() { m.shapes = nil }
