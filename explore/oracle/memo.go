package oracle

import (
	"slices"

	"fsward/explore/crash"
)

// A memo remembers the verdicts of the states of one point of a log. These states differ only in
// the pages in flight, and a verdict depends only on those of them that were read. Another state
// with the same contents in these pages has the same verdict, whatever its other pages hold:
// judging it would read the same.
type memo struct {
	point int
	sets  []*readSet // the most recently used first
}

// maxReadSets bounds the sets of pages that are tried for a state.
const maxReadSets = 64

// A readSet is a set of pages that verdicts depend on, with the verdicts by the contents of the
// pages.
type readSet struct {
	pages    []uint64 // numbers, in order
	verdicts map[crash.Signature]Verdict
}

// contents returns the sum of the signatures of the pages in a state.
func (set *readSet) contents(s *crash.State) (sum crash.Signature) {
	for _, number := range set.pages {
		p := s.Page(number)
		sum[0], sum[1] = sum[0]+p[0], sum[1]+p[1]
	}
	return sum
}

// find returns the verdict of an earlier state that has the same contents in all pages that its
// verdict depends on.
func (m *memo) find(s *crash.State) (Verdict, bool) {
	if m.point != s.Point {
		*m = memo{point: s.Point}
	}
	for i, set := range m.sets {
		if v, ok := set.verdicts[set.contents(s)]; ok {
			copy(m.sets[1:i+1], m.sets[:i])
			m.sets[0] = set
			return v, true
		}
	}
	return Verdict{}, false
}

// add remembers the verdict of a state in which the pages in read were read.
func (m *memo) add(s *crash.State, read map[uint64]struct{}, v Verdict) {
	pages := make([]uint64, 0, len(read))
	for number := range read {
		pages = append(pages, number)
	}
	slices.Sort(pages)
	i := slices.IndexFunc(m.sets, func(set *readSet) bool {
		return slices.Equal(set.pages, pages)
	})
	if i < 0 {
		if i = len(m.sets); i >= maxReadSets {
			i = maxReadSets - 1
			m.sets = m.sets[:i]
		}
		set := &readSet{pages: pages, verdicts: make(map[crash.Signature]Verdict)}
		m.sets = append(m.sets, set)
	}
	m.sets[i].verdicts[m.sets[i].contents(s)] = v
}

func (m *memo) clear() { m.sets = nil }
