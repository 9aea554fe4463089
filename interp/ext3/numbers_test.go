package ext3

import (
	"maps"
	"math/rand/v2"
	"slices"
	"testing"
)

func numbersOf(m map[uint32]bool) *numberSet {
	s := new(numberSet)
	for n := range m {
		s.add(n)
	}
	return s
}

func TestNumberSet(t *testing.T) {
	random := rand.New(rand.NewPCG(3, 4))
	for range 100 {
		var s, other numberSet
		want := make(map[uint32]bool)
		at := random.Uint32()
		for range random.IntN(300) {
			if random.IntN(20) == 0 {
				at = random.Uint32()
			}
			n := at + uint32(random.IntN(2000))
			want[n] = true
			if random.IntN(3) == 0 {
				other.add(n)
			} else {
				s.add(n)
			}
			if probe := at + uint32(random.IntN(2000)); (s.has(probe) || other.has(probe)) != want[probe] {
				t.Fatalf("%d is in the set: %t", probe, !want[probe])
			}
		}
		s.addAll(&other)
		if got := slices.Collect(s.all()); !slices.Equal(got, slices.Sorted(maps.Keys(want))) ||
			s.len() != len(want) {
			t.Fatalf("%d numbers, %d counted, want %d", len(got), s.len(), len(want))
		}
		lo := uint64(at) + uint64(random.IntN(1000))
		hi := lo + uint64(random.IntN(3)*500)
		near := slices.DeleteFunc(slices.Sorted(maps.Keys(want)), func(n uint32) bool {
			return uint64(n) < lo || uint64(n) > hi
		})
		if got := slices.Collect(s.within(lo, hi)); !slices.Equal(got, near) {
			t.Fatalf("from %d to %d: %v, want %v", lo, hi, got, near)
		}
	}
	for range new(numberSet).all() {
		t.Error("an empty set has a number")
	}
}
