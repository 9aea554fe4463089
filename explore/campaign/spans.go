package campaign

import (
	"fmt"
	"slices"
)

// A span is the indexes from … to …, both included.
type span [2]uint64

// spans are the indexes that have a result: in order, with a gap between any two. A campaign whose
// units are done in about their order has few, however many units it has.
type spans []span

// add adds the indexes of a span, and returns how many of them were there already.
func (s *spans) add(n span) (twice uint64) {
	// The spans i to j-1 overlap the new one, or touch it.
	i, _ := slices.BinarySearchFunc(*s, n[0], func(e span, from uint64) int {
		if e[1]+1 < from {
			return -1
		}
		return 1
	})
	j, whole := i, n
	for ; j < len(*s) && (*s)[j][0] <= n[1]+1; j++ {
		e := (*s)[j]
		if from, to := max(e[0], n[0]), min(e[1], n[1]); from <= to {
			twice += to - from + 1
		}
		whole = span{min(whole[0], e[0]), max(whole[1], e[1])}
	}
	*s = slices.Replace(*s, i, j, whole)
	return twice
}

// covers reports whether all indexes of a span are there.
func (s spans) covers(n span) bool {
	i, _ := slices.BinarySearchFunc(s, n[0], func(e span, from uint64) int {
		if e[1] < from {
			return -1
		}
		return 1
	})
	return i < len(s) && s[i][0] <= n[0] && n[1] <= s[i][1]
}

// size returns the number of indexes.
func (s spans) size() (n uint64) {
	for _, e := range s {
		n += e[1] - e[0] + 1
	}
	return n
}

// within returns an error unless the spans are in order, apart, and of a campaign's indexes.
func (s spans) within(d *Definition) error {
	for i, e := range s {
		if e[0] < d.First || e[1] > d.Last || e[1] < e[0] || i > 0 && s[i-1][1]+1 >= e[0] {
			return fmt.Errorf("the indexes %d to %d", e[0], e[1])
		}
	}
	return nil
}
