package btrfs

import (
	"math/rand/v2"
	"testing"

	"fsward/interp/btrfs/ondisk"
	"fsward/interp/disk"
)

// The cache forgets exactly the blocks of which a write touches a copy, whether or not all
// addresses are multiples of nodesize.
func TestCacheForgets(t *testing.T) {
	const nodeSize, sector, blocks = 16 << 10, 4 << 10, 64
	for _, unaligned := range []bool{false, true} {
		random := rand.New(rand.NewPCG(1, 2))
		forgotten := 0
		for range 400 {
			c := newNodeCache(nodeSize, sector, 2*blocks*nodeSize)
			var kept [][]uint64
			for i := range uint64(blocks) {
				addrs := []uint64{i * nodeSize, (1000 + i) * nodeSize}
				if unaligned && i == blocks/2 {
					addrs[1] = (2000+i)*nodeSize + sector
				}
				c.put(keptBlock{addrs: addrs, node: blankNode(addrs[0], nodeSize), seen: 3})
				kept = append(kept, addrs)
			}
			off := uint64(random.IntN(2200*nodeSize/sector)) * sector
			n := uint64(1+random.IntN(40)) * sector
			if random.IntN(3) == 0 { // near a block
				off = kept[random.IntN(blocks)][random.IntN(2)] + uint64(random.IntN(8))*sector
			}
			c.forget(off, n)
			for _, addrs := range kept {
				node, _ := c.get(addrs)
				touched := overlap(addrs[0], nodeSize, off, n) || overlap(addrs[1], nodeSize, off, n)
				if touched != (node == nil) {
					t.Fatalf("unaligned %v: after a write of %d bytes at %d the block at %d is kept: %v",
						unaligned, n, off, addrs, node != nil)
				}
				if touched {
					forgotten++
				}
			}
		}
		if forgotten < 100 {
			t.Errorf("only %d blocks were forgotten", forgotten)
		}
	}
}

// blankNode returns a block of zeros.
func blankNode(addr uint64, size int) *ondisk.Node {
	n, _ := ondisk.NewNode(disk.NewRegion(make([]byte, size), addr))
	return n
}
