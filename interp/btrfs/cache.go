package btrfs

import (
	"slices"
	"sync"

	lru "github.com/hashicorp/golang-lru/v2/simplelru"

	"fsward/interp/btrfs/ondisk"
)

// cacheBytes bounds the metadata blocks that are kept, checked, between and within transactions,
// where nothing else is said.
const cacheBytes = 64 << 20

// nodeCache keeps blocks that have passed checkNode, by device address, and forgets what is written
// over. A block with several copies is known by all of their addresses. Safe for concurrent use.
type nodeCache struct {
	mu        sync.Mutex
	reading   []*reading // blocks that are being read
	nodes     *lru.LRU[uint64, *cachedNode]
	further   map[uint64]uint64 // the address of a further copy → that of the first
	nodeSize  uint64
	sector    uint64    // addresses of blocks are multiples of it
	unaligned bool      // one is no multiple of nodeSize, as old tools have made them
	buffers   sync.Pool // of *[]byte of nodeSize, for what is not kept

	// parent has the blocks of another state of the same disk, and same tells of a range whether it
	// is the same there; nil if there is none.
	parent *nodeCache
	same   func(off, n uint64) bool
}

// fork returns a cache for another state of the disk, which takes the blocks that are the same from
// this one.
func (c *nodeCache) fork(same func(off, n uint64) bool) *nodeCache {
	f := newNodeCache(uint32(c.nodeSize), uint32(c.sector), forkBytes)
	f.parent, f.same = c, same
	return f
}

// forkBytes bounds the blocks that a fork keeps of its own.
const forkBytes = 32 << 20

// shared returns a block of the parent that is the same here, in all its copies, and keeps it.
func (c *nodeCache) shared(addrs []uint64) *cachedNode {
	if c.parent == nil {
		return nil
	}
	for _, addr := range addrs {
		if !c.same(addr, c.nodeSize) {
			return nil
		}
	}
	c.parent.mu.Lock()
	defer c.parent.mu.Unlock()
	e, _ := c.parent.nodes.Get(addrs[0])
	return e
}

// A reading is a block that is on its way into the cache.
type reading struct {
	addrs []uint64
	stale bool // it was written over meanwhile
}

type cachedNode struct {
	node   *ondisk.Node
	others [maxCopies - 1]uint64 // addresses of the further copies
	count  int                   // of them
	whole  bool                  // all copies were read or written, and found the same
	seen   uint8                 // a bit for each copy that was written since the guard began: see keptBlock
}

func (n *cachedNode) further() []uint64 { return n.others[:n.count] }

func newNodeCache(nodeSize, sectorSize uint32, bytes int) *nodeCache {
	c := &nodeCache{further: make(map[uint64]uint64), nodeSize: uint64(nodeSize), sector: uint64(sectorSize)}
	// The error is for a size below one.
	c.nodes, _ = lru.NewLRU(max(bytes/int(nodeSize), 1), func(_ uint64, n *cachedNode) {
		for _, addr := range n.further() {
			delete(c.further, addr)
		}
	})
	return c
}

// borrow returns room for a block that is compared and not kept.
func (c *nodeCache) borrow() *[]byte {
	if b, ok := c.buffers.Get().(*[]byte); ok {
		return b
	}
	b := make([]byte, c.nodeSize)
	return &b
}

func (c *nodeCache) giveBack(b *[]byte) { c.buffers.Put(b) }

// get returns the block whose copies are at addresses, or nil.
func (c *nodeCache) get(addrs []uint64) (n *ondisk.Node, whole bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if e, ok := c.nodes.Get(addrs[0]); ok {
		return e.node, e.whole
	}
	if e := c.shared(addrs); e != nil {
		c.insert(addrs, e)
		return e.node, e.whole
	}
	return nil, false
}

// begin is called before a block is read from the disk, with the addresses of its copies.
func (c *nodeCache) begin(addrs []uint64) *reading {
	c.mu.Lock()
	defer c.mu.Unlock()
	r := &reading{addrs: addrs}
	c.reading = append(c.reading, r)
	return r
}

// end keeps the block that was read, unless that is nil or the block was written over since begin.
func (c *nodeCache) end(r *reading, n *ondisk.Node, whole bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	i := slices.Index(c.reading, r)
	c.reading = slices.Delete(c.reading, i, i+1)
	if n == nil || r.stale {
		return
	}
	c.add(r.addrs, &cachedNode{node: n, whole: whole})
	if c.parent != nil && !slices.ContainsFunc(r.addrs, func(a uint64) bool { return !c.same(a, c.nodeSize) }) {
		c.parent.end(c.parent.begin(r.addrs), n, whole)
	}
}

// add keeps a block in the place of what is kept of it.
func (c *nodeCache) add(addrs []uint64, e *cachedNode) {
	c.nodes.Remove(addrs[0])
	for _, addr := range addrs[1:] {
		e.others[e.count] = addr
		e.count++
		c.further[addr] = addrs[0]
	}
	c.insert(addrs, e)
}

// insert keeps a block that knows its addresses.
func (c *nodeCache) insert(addrs []uint64, e *cachedNode) {
	c.unaligned = c.unaligned || slices.ContainsFunc(addrs, func(a uint64) bool { return a%c.nodeSize != 0 })
	c.nodes.Add(addrs[0], e)
}

// step is what the addresses of all blocks are multiples of.
func (c *nodeCache) step() uint64 {
	if c.unaligned {
		return c.sector
	}
	return c.nodeSize
}

// forget drops every block that a write to the device touches.
func (c *nodeCache) forget(off, n uint64) {
	if n == 0 {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, r := range c.reading {
		if slices.ContainsFunc(r.addrs, func(a uint64) bool { return overlap(a, c.nodeSize, off, n) }) {
			r.stale = true
		}
	}
	if c.nodes.Len() == 0 {
		return
	}
	drop := func(addr uint64) {
		c.nodes.Remove(addr)
		if first, ok := c.further[addr]; ok {
			c.nodes.Remove(first)
		}
	}
	start, step := uint64(0), c.step()
	if off >= c.nodeSize {
		start = ((off-c.nodeSize)/step + 1) * step // one that ends at off is not touched
	}
	if (n+c.nodeSize)/step <= uint64(2*c.nodes.Len()) {
		for a := start; a < off+n; a += step {
			drop(a)
		}
		return
	}
	for _, a := range c.nodes.Keys() {
		e, ok := c.nodes.Peek(a)
		if ok && (overlap(a, c.nodeSize, off, n) ||
			slices.ContainsFunc(e.further(), func(o uint64) bool { return overlap(o, c.nodeSize, off, n) })) {
			drop(a)
		}
	}
}

// overlap reports whether [a, a+an) and [b, b+bn) share a byte. Both lie within a device, so no sum
// wraps.
func overlap(a, an, b, bn uint64) bool { return a < b+bn && b < a+an }
