package change

import "testing"

// Each number has one place, also after the table has grown and when it has been emptied.
func TestSubTable(t *testing.T) {
	x := newSubTable()
	for round := range 2 {
		if _, ok := x.find(1); ok {
			t.Fatalf("round %d: something is found in an empty table", round)
		}
		number := func(i uint32) uint64 { return uint64(i) << (i % 3 * 20) * 8191 }
		for i := range uint32(5000) {
			if _, ok := x.find(number(i) + 1); ok {
				t.Fatalf("%d is found and was not added", number(i)+1)
			}
			if at := x.add(number(i)); at != i {
				t.Fatalf("number %d has the place %d", i, at)
			}
		}
		for i := range uint32(5000) {
			if at, ok := x.find(number(i)); !ok || at != i {
				t.Fatalf("number %d is found at %d, %t", i, at, ok)
			}
		}
		x.reset()
	}
}
