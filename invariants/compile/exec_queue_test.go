package compile

import (
	"fsward/change"

	"sync"
	"testing"
)

// TestWorkQueue checks that both workers together judge each record once, however fast either is.
func TestWorkQueue(t *testing.T) {
	for _, records := range []int{0, 1, minStep, minStep + 1, 10 * batchSize, 1_000_003} {
		for _, alone := range []bool{false, true} {
			parts, judged := newWorkQueue(records, change.WorkMark{}), make([]int, records)
			var wg sync.WaitGroup
			for _, atEnd := range []bool{false, true} {
				take := func() {
					for part := range parts.batches(atEnd) {
						for i := part[0]; i < part[1]; i++ {
							judged[i]++
						}
					}
				}
				if alone { // the first worker leaves nothing for the second
					take()
				} else {
					wg.Go(take)
				}
			}
			wg.Wait()
			for i, n := range judged {
				if n != 1 {
					t.Fatalf("record %d of %d was judged %d times", i, records, n)
				}
			}
		}
	}
	parts := newWorkQueue(1_000_000, change.WorkMark{})
	parts.stopped.Store(true)
	for range parts.batches(true) {
		t.Fatal("the queue hands out a part after it was stopped")
	}
}
