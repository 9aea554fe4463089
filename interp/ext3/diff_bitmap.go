package ext3

import (
	"bytes"
	"encoding/binary"
	"math/bits"

	"fsward/interp/ext3/ondisk"
)

// zeros stands for the earlier contents of a block in a group that did not exist. It is only read.
var zeros [ondisk.MaxBlockSize]byte

// bitmap calls visit for the changed bits below count, for up to 64 in sequence at once. Before the
// transaction the bitmap had had bits.
func (d *groupDiff) bitmap(block, had, count uint32, visit func(first, n uint32, set bool)) error {
	if !d.rewrote(block) && had == count {
		return nil
	}
	after, err := d.new.Block(block)
	if err != nil {
		return err
	}
	before := zeros[:len(after)]
	if had > 0 {
		if before, err = d.old.Block(block); err != nil {
			return err
		}
	}
	if 0 < had && had < count { // these bits were padding
		before = bytes.Clone(before)
		for n := had; n < count; n++ {
			before[n/8] &^= 1 << (n % 8)
		}
	}
	if n, ok := d.padded(before, after, had, count); !ok {
		d.fault(checkPadding.at(d.Geo.Addr(block)+uint64(n/8), "bit %d is clear, the group has %d", n,
			count))
	}
	for n := uint32(0); n < count; {
		is := bitsFrom(after, n)
		turned := bitsFrom(before, n) ^ is
		alike, set := turned&is, is&1 == 1
		if !set {
			alike = turned &^ is
		}
		same := onesFrom(^turned, n)
		if same == 0 {
			same = min(onesFrom(alike, n), count-n)
			visit(n, same, set)
		}
		n += same
	}
	return nil
}

// bitsFrom returns the bits of a bitmap from n on that are in the same word of 64 bits.
func bitsFrom(b []byte, n uint32) uint64 {
	return binary.LittleEndian.Uint64(b[n/64*8:]) >> (n % 64)
}

// onesFrom returns how many bits that bitsFrom returned for n are 1 up to the first 0.
func onesFrom(word uint64, n uint32) uint32 {
	return min(uint32(bits.TrailingZeros64(^word)), 64-n%64)
}

// padded looks for a bit after the end of a bitmap that the transaction clears or, in an image,
// that is clear. Old versions of mke2fs left these bits clear, and Linux does not change them.
func (d *groupDiff) padded(before, after []byte, had, count uint32) (n uint32, ok bool) {
	for n := max(had, count); n < 8*d.Geo.BlockSize; n++ {
		if n%8 == 0 && after[n/8] == 0xff {
			n += 7
			continue
		}
		if !ondisk.Bit(after, n) && (d.image != nil || ondisk.Bit(before, n)) {
			return n, false
		}
	}
	return 0, true
}
