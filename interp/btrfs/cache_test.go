package btrfs

import (
	"math/rand/v2"
	"testing"

	"fsward/interp/btrfs/ondisk"
	"fsward/interp/disk"
)

// TestCacheForgets checks that the cache forgets exactly the blocks of which a write touches a
// copy, whether or not all addresses are multiples of nodesize.
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

// TestCacheGrows checks that a cache that has grown keeps more blocks, until it shrinks.
func TestCacheGrows(t *testing.T) {
	const nodeSize, blocks = 16 << 10, 64
	c := newNodeCache(nodeSize, 4<<10, 4*nodeSize)
	kept := func() (n int) {
		for i := range uint64(blocks) {
			addrs := []uint64{i * nodeSize}
			if node, _ := c.get(addrs); node != nil {
				n++
			}
			c.put(keptBlock{addrs: addrs, node: blankNode(addrs[0], nodeSize), seen: 1})
		}
		return n
	}
	for _, step := range []struct {
		change func()
		want   int
	}{
		{c.shrink, 0},
		{func() { c.grow((blocks - 4) * (nodeSize + entryBytes)) }, 4},
		{func() {}, blocks},
		{c.shrink, 0}, // of four blocks, each is dropped before it is asked for
	} {
		step.change()
		if n := kept(); n != step.want {
			t.Errorf("%d blocks were kept, want %d", n, step.want)
		}
	}
}

// blankNode returns a block of zeros.
func blankNode(addr uint64, size int) *ondisk.Node {
	n, _ := ondisk.NewNode(disk.NewRegion(make([]byte, size), addr))
	return n
}
