package ext3

import (
	"iter"
	"maps"
	"math"
	"math/bits"
	"slices"
)

// A numberSet is a set of numbers of inodes, blocks or groups. The numbers in one commit are close
// to each other, so that each takes a bit or two. A number without neighbors takes 64 bytes and an
// entry in a map.
type numberSet struct {
	pages map[uint32]*numberPage
	at    uint32 // number of the page that was used last
	last  *numberPage
}

const (
	pageBits = 512
	// numberPageBytes is the memory of a page and of its entry in the map, bytes.
	numberPageBytes = 104
)

type numberPage [pageBits / 64]uint64

func (s *numberSet) page(n uint32) *numberPage {
	if at := n / pageBits; s.last == nil || s.at != at {
		p := s.pages[at]
		if p == nil {
			return nil
		}
		s.at, s.last = at, p
	}
	return s.last
}

// add adds a number and reports whether it is new.
func (s *numberSet) add(n uint32) (first bool) {
	p := s.page(n)
	if p == nil {
		if s.pages == nil {
			s.pages = make(map[uint32]*numberPage)
		}
		p = new(numberPage)
		s.pages[n/pageBits] = p
		s.at, s.last = n/pageBits, p
	}
	word, mask := &p[n%pageBits/64], uint64(1)<<(n%64)
	first = *word&mask == 0
	*word |= mask
	return first
}

func (s *numberSet) has(n uint32) bool {
	p := s.page(n)
	return p != nil && p[n%pageBits/64]>>(n%64)&1 == 1
}

// contains is has for concurrent use. A nil set contains nothing.
func (s *numberSet) contains(n uint32) bool {
	if s == nil {
		return false
	}
	p := s.pages[n/pageBits]
	return p != nil && p[n%pageBits/64]>>(n%64)&1 == 1
}

// addAll adds another set.
func (s *numberSet) addAll(other *numberSet) {
	for n := range other.all() {
		s.add(n)
	}
}

// removeFrom removes the numbers of the set from the keys of a map. It goes through the smaller of
// the two.
func removeFrom[V any](m map[uint32]V, s *numberSet) {
	if s.len() > len(m) {
		maps.DeleteFunc(m, func(n uint32, _ V) bool { return s.has(n) })
		return
	}
	for n := range s.all() {
		delete(m, n)
	}
}

// len returns how many numbers the set has.
func (s *numberSet) len() (n int) {
	for _, p := range s.pages {
		for _, word := range p {
			n += bits.OnesCount64(word)
		}
	}
	return n
}

// bytes returns the memory of the set, approximately.
func (s *numberSet) bytes() uint64 { return uint64(len(s.pages)) * numberPageBytes }

// within yields the numbers from lo to hi in order.
func (s *numberSet) within(lo, hi uint64) iter.Seq[uint32] {
	return func(yield func(uint32) bool) {
		if lo == hi {
			if lo <= math.MaxUint32 && s.has(uint32(lo)) {
				yield(uint32(lo))
			}
			return
		}
		for n := range s.all() {
			if uint64(n) > hi || uint64(n) >= lo && !yield(n) {
				return
			}
		}
	}
}

// all yields the numbers in order. It may miss numbers that are added during the iteration.
func (s *numberSet) all() iter.Seq[uint32] {
	return func(yield func(uint32) bool) {
		for _, at := range slices.Sorted(maps.Keys(s.pages)) {
			for i, word := range s.pages[at] {
				for ; word != 0; word &= word - 1 {
					if !yield(at*pageBits + uint32(i*64+bits.TrailingZeros64(word))) {
						return
					}
				}
			}
		}
	}
}
