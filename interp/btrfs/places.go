package btrfs

import (
	"cmp"
	"iter"
	"slices"

	"fsward/interp"
	"fsward/interp/btrfs/ondisk"
)

// A place is a contiguous range of device addresses and the logical addresses that it holds.
type place struct {
	chunk            *chunk
	addr, n, logical uint64
}

// places yields the parts of a range of device addresses that lie in chunks.
func (m *chunkMap) places(off, n uint64) iter.Seq[place] {
	return func(yield func(place) bool) {
		i, _ := slices.BinarySearchFunc(m.onDisk, off, func(s chunkStripe, a uint64) int {
			return cmp.Compare(s.addr, a)
		})
		for i = max(i-1, 0); i < len(m.onDisk) && m.onDisk[i].addr < off+n; i++ {
			s, c := m.onDisk[i].addr, &m.chunks[m.onDisk[i].chunk]
			lo, hi := max(off, s), min(off+n, s+c.stripeLength())
			for lo < hi {
				at, run := c.offsetOf(slices.Index(c.stripes, s), lo-s)
				p := place{c, lo, min(hi-lo, run), c.logical + at}
				if !yield(p) {
					return
				}
				lo += p.n
			}
		}
	}
}

// offsetOf is the inverse of locate. It returns the offset in the chunk of the byte at an offset in
// one of its stripes. run is the number of bytes from there on that are contiguous in the chunk.
func (c *chunk) offsetOf(stripe int, at uint64) (off, run uint64) {
	if c.columns == 1 {
		return at, c.length - at
	}
	row := at/ondisk.StripeLen*uint64(c.columns) + uint64(stripe/c.copies)
	return row*ondisk.StripeLen + at%ondisk.StripeLen, ondisk.StripeLen - at%ondisk.StripeLen
}

// contents returns the bytes that a write puts at a place, or nil if it zeroes or discards them.
func (p place) contents(w *interp.Write) []byte {
	if w.Data == nil {
		return nil
	}
	return w.Data[p.addr-w.Off : p.addr-w.Off+p.n]
}
