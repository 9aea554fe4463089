package interp

import (
	"io"
	"iter"
)

// A Replayed is what recovery makes of a disk, in memory. What recovery empties, such as a journal,
// reads as zeros. It reads whole pages of 4096 bytes; the last page of a disk may be shorter.
type Replayed interface {
	io.ReaderAt
	// Changed yields an address in each block that recovery changes, in bytes and in no order.
	Changed() iter.Seq[uint64]
	// Ignore clears in a page at an offset what may differ between two runs of the same operations,
	// and what recovery empties: times, random numbers, and the journal.
	Ignore(page []byte, off int64)
	// Work describes coarsely what recovery has to do: whether it replays anything, and how far it
	// reads behind that. It takes another path through its code for another description.
	Work() string
}
