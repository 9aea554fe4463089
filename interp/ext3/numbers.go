package ext3

import (
	"iter"
	"maps"
	"math/bits"
	"slices"
)

// A numberSet is a set of inodes, blocks or groups. Those of one commit lie beside each other, so
// that it takes a bit or two for each of many, 64 bytes and a place in a map for one that is alone.
type numberSet struct {
	pages map[uint32]*numberPage
	at    uint32 // the page used last
	last  *numberPage
}

const pageBits = 512

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

// add adds a number, and reports whether it was not there.
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

// contains is has, which several goroutines may ask at once.
func (s *numberSet) contains(n uint32) bool {
	p := s.pages[n/pageBits]
	return p != nil && p[n%pageBits/64]>>(n%64)&1 == 1
}

// addAll adds another set.
func (s *numberSet) addAll(other *numberSet) {
	for n := range other.all() {
		s.add(n)
	}
}

// len counts what is in the set.
func (s *numberSet) len() (n int) {
	for _, p := range s.pages {
		for _, word := range p {
			n += bits.OnesCount64(word)
		}
	}
	return n
}

// all yields the numbers in order. What is added meanwhile need not be among them.
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
