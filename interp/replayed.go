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
}
