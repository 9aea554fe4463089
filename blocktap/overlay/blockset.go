package overlay

import "math/bits"

// chunkBlocks is the number of blocks in one entry of a blockSet.
const chunkBlocks = 4096

// blockSet is a set of block numbers. It consists of bitmaps of chunkBlocks blocks, each allocated
// when the first of its blocks is added. Decision 33 compares it with a tree of extents.
type blockSet struct {
	chunks map[uint64]*chunk
	n      uint64 // blocks in the set
}

// chunk is a bitmap of chunkBlocks blocks.
type chunk [chunkBlocks / 64]uint64

func newBlockSet() blockSet { return blockSet{chunks: make(map[uint64]*chunk)} }

func (s *blockSet) has(block uint64) bool {
	c := s.chunks[block/chunkBlocks]
	return c != nil && c[block%chunkBlocks/64]&(1<<(block%64)) != 0
}

// add adds the blocks [from, to). It adds up to 64 blocks at a time, because a guest may trim a
// whole disk.
func (s *blockSet) add(from, to uint64) {
	for from < to {
		c := s.chunks[from/chunkBlocks]
		if c == nil {
			c = new(chunk)
			s.chunks[from/chunkBlocks] = c
		}
		for end := min(to, (from/chunkBlocks+1)*chunkBlocks); from < end; {
			next := min(end, (from/64+1)*64)
			mask := (^uint64(0) >> (64 - (next - from))) << (from % 64)
			word := &c[from%chunkBlocks/64]
			s.n += uint64(bits.OnesCount64(mask &^ *word))
			*word |= mask
			from = next
		}
	}
}
