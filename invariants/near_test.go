package invariants

import "testing"

// Ids that follow each other have slots in one line of eight, and tell themselves apart by the tags that indexes keep.
func TestNear(t *testing.T) {
	s := newSeeds()
	for id := uint64(0); id < 4096; id += 8 {
		first := s.near(id, id%3)
		if first%8 != 0 {
			t.Fatalf("the hash of %d is %#x: eight slots from it on are no line", id, first)
		}
		for i := range uint64(8) {
			if h := s.near(id+i, id%3); h%(1<<20) != first%(1<<20)+i || i > 0 && h>>32 == first>>32 {
				t.Errorf("near(%d) is %#x, near(%d) %#x", id, first, id+i, h)
			}
		}
	}
	if s.near(8, 1) == s.near(8, 2) {
		t.Error("the second number does not count")
	}
}
