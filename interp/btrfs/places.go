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
	parity           bool // it holds parity of RAID5 or RAID6, and no logical addresses
}

// holds reports whether the place has contents of a chunk that has one of the types.
func (p place) holds(types uint64) bool { return !p.parity && p.chunk.typ&types != 0 }

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
				at, run, parity := c.offsetOf(slices.Index(c.stripes, s), lo-s)
				p := place{c, lo, min(hi-lo, run), c.logical + at, parity}
				if !yield(p) {
					return
				}
				lo += p.n
			}
		}
	}
}

// offsetOf is the inverse of locate. It returns the offset in the chunk of the byte at an offset in
// one of its stripes. run is the number of bytes from there on that are contiguous in the chunk. If
// the byte is parity, off is 0.
func (c *chunk) offsetOf(stripe int, at uint64) (off, run uint64, parity bool) {
	if !c.striped() {
		return at, c.length - at, false
	}
	row, rest := at/ondisk.StripeLen, at%ondisk.StripeLen
	column := stripe / c.copies
	if n := len(c.stripes); c.parity > 0 {
		column = (stripe + n - int(row%uint64(n))) % n
	}
	if column >= c.columns {
		return 0, ondisk.StripeLen - rest, true
	}
	off = (row*uint64(c.columns)+uint64(column))*ondisk.StripeLen + rest
	return off, ondisk.StripeLen - rest, false
}

// contents returns the bytes that a write puts at a place, or nil if it zeroes or discards them.
func (p place) contents(w *interp.Write) []byte {
	if w.Data == nil {
		return nil
	}
	return w.Data[p.addr-w.Off : p.addr-w.Off+p.n]
}
