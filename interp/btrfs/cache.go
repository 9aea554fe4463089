package btrfs

import (
	lru "github.com/hashicorp/golang-lru/v2/simplelru"
)

// cacheBytes bounds the metadata blocks that are kept, checked, between and within transactions.
const cacheBytes = 64 << 20

// nodeCache keeps blocks that have passed checkNode, by device address, and forgets what is written
// over. A block of a DUP chunk is known by both of its addresses.
type nodeCache struct {
	nodes    *lru.LRU[uint64, *cachedNode]
	second   map[uint64]uint64 // the address of a second copy → that of the first
	nodeSize uint64
	step     uint64 // addresses of blocks are multiples of it
}

type cachedNode struct {
	node  *node
	other uint64 // address of the second copy, if twin
	twin  bool
	whole bool // all copies were read and found the same
}

func newNodeCache(nodeSize, sectorSize uint32) *nodeCache {
	c := &nodeCache{second: make(map[uint64]uint64), nodeSize: uint64(nodeSize), step: uint64(sectorSize)}
	// The error is for a size below one.
	c.nodes, _ = lru.NewLRU(max(cacheBytes/int(nodeSize), 1), func(_ uint64, n *cachedNode) {
		if n.twin {
			delete(c.second, n.other)
		}
	})
	return c
}

// get returns the block whose first copy is at an address, or nil.
func (c *nodeCache) get(addr uint64) (n *node, whole bool) {
	if e, ok := c.nodes.Get(addr); ok {
		return e.node, e.whole
	}
	return nil, false
}

func (c *nodeCache) put(n *node, addrs []uint64, whole bool) {
	e := &cachedNode{node: n, whole: whole}
	c.nodes.Remove(addrs[0])
	if len(addrs) > 1 {
		e.other, e.twin = addrs[1], true
		c.second[addrs[1]] = addrs[0]
	}
	c.nodes.Add(addrs[0], e)
}

// forget drops every block that a write to the device touches.
func (c *nodeCache) forget(off, n uint64) {
	if n == 0 || c.nodes.Len() == 0 {
		return
	}
	drop := func(addr uint64) {
		c.nodes.Remove(addr)
		if first, ok := c.second[addr]; ok {
			c.nodes.Remove(first)
		}
	}
	start := uint64(0)
	if off >= c.nodeSize {
		start = (off - c.nodeSize) / c.step * c.step
	}
	if (n+c.nodeSize)/c.step <= uint64(2*c.nodes.Len()) {
		for a := start; a < off+n; a += c.step {
			drop(a)
		}
		return
	}
	for _, a := range c.nodes.Keys() {
		e, ok := c.nodes.Peek(a)
		if ok && (overlap(a, c.nodeSize, off, n) || e.twin && overlap(e.other, c.nodeSize, off, n)) {
			drop(a)
		}
	}
}

// overlap tells whether [a, a+an) and [b, b+bn) share a byte. Both lie within a device, so no sum wraps.
func overlap(a, an, b, bn uint64) bool { return a < b+bn && b < a+an }
