package keyhash

import "testing"

// TestNear checks that consecutive ids have slots in one line of eight, and the tags that indexes
// keep tell them apart.
func TestNear(t *testing.T) {
	s := New()
	for id := uint64(0); id < 4096; id += 8 {
		first := s.Near(id, id%3)
		if first%8 != 0 {
			t.Fatalf("the hash of %d is %#x: its last three bits are not 0", id, first)
		}
		for i := range uint64(8) {
			if h := s.Near(id+i, id%3); h%(1<<20) != first%(1<<20)+i || i > 0 && h>>32 == first>>32 {
				t.Errorf("Near(%d) = %#x, Near(%d) = %#x", id, first, id+i, h)
			}
		}
	}
	if s.Near(8, 1) == s.Near(8, 2) {
		t.Error("Near ignores its second number")
	}
}
