package crash

import "iter"

// Bytes returns the memory of the pages that the log has changed and of the units in flight, bytes.
func (e *Enumerator) Bytes() uint64 { return e.bytes }

// InFlight returns the number of units that can still be missing after a crash.
func (e *Enumerator) InFlight() int { return len(e.flight) }

// Durable yields the pages that the log has made durable, in no order: the address of each in
// bytes, and its contents, which must not be changed.
func (e *Enumerator) Durable() iter.Seq2[uint64, []byte] {
	return func(yield func(uint64, []byte) bool) {
		for number, p := range e.layer.pages {
			if !yield(number*PageSize, p.contents) {
				return
			}
		}
	}
}
