package change

import "testing"

// TestSubTable checks that each number keeps its index when the table grows, and that reset empties
// the table.
func TestSubTable(t *testing.T) {
	x := newSubTable()
	for round := range 2 {
		if _, ok := x.find(1); ok {
			t.Fatalf("round %d: find found a number in an empty table", round)
		}
		number := func(i uint32) uint64 { return uint64(i) << (i % 3 * 20) * 8191 }
		for i := range uint32(5000) {
			if _, ok := x.find(number(i) + 1); ok {
				t.Fatalf("find found %d, which was not added", number(i)+1)
			}
			if at := x.add(number(i)); at != i {
				t.Fatalf("number %d has the index %d", i, at)
			}
		}
		for i := range uint32(5000) {
			if at, ok := x.find(number(i)); !ok || at != i {
				t.Fatalf("find(number %d) returned %d, %t", i, at, ok)
			}
		}
		x.reset()
	}
}
