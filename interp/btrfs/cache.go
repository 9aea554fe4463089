package btrfs

import (
	"slices"
	"sync"

	lru "github.com/hashicorp/golang-lru/v2/simplelru"

	"fsward/interp/btrfs/ondisk"
)

// cacheBytes is the default bound on the metadata blocks in a cache.
const cacheBytes = 64 << 20

// A nodeCache keeps blocks that have passed checkNode, within and between transactions. It finds a
// block by the device address of any of its copies, and forgets a block when a write touches a
// copy. It is safe for concurrent use.
type nodeCache struct {
	mu        sync.Mutex
	reading   []*reading // blocks that are being read
	nodes     *lru.LRU[uint64, *cachedNode]
	size      int               // of nodes when it is not grown
	grown     bool              // see grow
	further   map[uint64]uint64 // the address of a further copy → the address of the first copy
	nodeSize  uint64
	sector    uint64    // the address of each block is a multiple of it
	unaligned bool      // some address is no multiple of nodeSize: old tools made such blocks
	buffers   sync.Pool // of *[]byte of nodeSize, for blocks that are compared and dropped

	// parent caches another state of the same disk; nil if there is none. same reports whether a
	// range of the disk has the same contents in both states.
	parent *nodeCache
	same   func(off, n uint64) bool
}

// fork returns a cache for another state of the disk. It takes from this cache the blocks whose
// ranges have the same contents.
func (c *nodeCache) fork(same func(off, n uint64) bool) *nodeCache {
	f := newNodeCache(uint32(c.nodeSize), uint32(c.sector), forkBytes)
	f.parent, f.same = c, same
	return f
}

// forkBytes bounds the blocks that a fork keeps.
const forkBytes = 32 << 20

// shared returns a block of the parent if all its copies are the same in this state, or nil.
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

// A reading is a block that is being read from the disk.
type reading struct {
	addrs []uint64
	stale bool // a write has touched the block meanwhile
}

type cachedNode struct {
	node   *ondisk.Node
	others [maxCopies - 1]uint64 // addresses of the further copies
	count  int                   // of others
	whole  bool                  // all copies were read or written, and are the same
	seen   uint8                 // a bit for each copy that the guest has written: see keptBlock
}

func (n *cachedNode) further() []uint64 { return n.others[:n.count] }

// newNodeCache returns an empty cache for about the given number of bytes of blocks.
func newNodeCache(nodeSize, sectorSize uint32, bytes int) *nodeCache {
	c := &nodeCache{
		further:  make(map[uint64]uint64),
		nodeSize: uint64(nodeSize),
		sector:   uint64(sectorSize),
	}
	c.size = max(bytes/int(nodeSize), 1)
	// NewLRU fails only for a size below one.
	c.nodes, _ = lru.NewLRU(c.size, func(_ uint64, n *cachedNode) {
		for _, addr := range n.further() {
			delete(c.further, addr)
		}
	})
	return c
}

// entryBytes is the memory of the entry of a block beside the block.
const entryBytes = 512

// grow makes room for further bytes of blocks, until shrink. While a large difference is judged
// part by part, rules look up objects all over the trees.
func (c *nodeCache) grow(bytes uint64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.nodes.Resize(c.size + int(bytes/(c.nodeSize+entryBytes)))
	c.grown = true
}

// shrink undoes grow.
func (c *nodeCache) shrink() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.grown {
		c.nodes.Resize(c.size)
		c.grown = false
	}
}

// borrow returns a buffer for a block that is compared and not kept. giveBack ends its use.
func (c *nodeCache) borrow() *[]byte {
	if b, ok := c.buffers.Get().(*[]byte); ok {
		return b
	}
	b := make([]byte, c.nodeSize)
	return &b
}

func (c *nodeCache) giveBack(b *[]byte) { c.buffers.Put(b) }

// get returns the block whose copies have the addresses, or nil. whole reports whether all copies
// are known to be the same.
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

// begin announces that a block will be read from the disk. addrs are the addresses of its copies.
func (c *nodeCache) begin(addrs []uint64) *reading {
	c.mu.Lock()
	defer c.mu.Unlock()
	r := &reading{addrs: addrs}
	c.reading = append(c.reading, r)
	return r
}

// end keeps the block that was read, unless it is nil or a write has touched the block since begin.
func (c *nodeCache) end(r *reading, n *ondisk.Node, whole bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	i := slices.Index(c.reading, r)
	c.reading = slices.Delete(c.reading, i, i+1)
	if n == nil || r.stale {
		return
	}
	c.add(r.addrs, &cachedNode{node: n, whole: whole})
	differs := func(a uint64) bool { return !c.same(a, c.nodeSize) }
	if c.parent != nil && !slices.ContainsFunc(r.addrs, differs) {
		c.parent.end(c.parent.begin(r.addrs), n, whole)
	}
}

// add replaces the entry of a block.
func (c *nodeCache) add(addrs []uint64, e *cachedNode) {
	c.nodes.Remove(addrs[0])
	for _, addr := range addrs[1:] {
		e.others[e.count] = addr
		e.count++
		c.further[addr] = addrs[0]
	}
	c.insert(addrs, e)
}

// insert adds the entry of a block that already has its further addresses.
func (c *nodeCache) insert(addrs []uint64, e *cachedNode) {
	unaligned := func(a uint64) bool { return a%c.nodeSize != 0 }
	c.unaligned = c.unaligned || slices.ContainsFunc(addrs, unaligned)
	c.nodes.Add(addrs[0], e)
}

// step returns a number that divides the addresses of all blocks.
func (c *nodeCache) step() uint64 {
	if c.unaligned {
		return c.sector
	}
	return c.nodeSize
}

// forget drops every block that shares a byte with [off, off+n).
func (c *nodeCache) forget(off, n uint64) {
	if n == 0 {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	touched := func(a uint64) bool { return overlap(a, c.nodeSize, off, n) }
	for _, r := range c.reading {
		if slices.ContainsFunc(r.addrs, touched) {
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
		start = ((off-c.nodeSize)/step + 1) * step // a block that ends at off is not touched
	}
	if (n+c.nodeSize)/step <= uint64(2*c.nodes.Len()) {
		for a := start; a < off+n; a += step {
			drop(a)
		}
		return
	}
	for _, a := range c.nodes.Keys() {
		e, ok := c.nodes.Peek(a)
		if ok && (touched(a) || slices.ContainsFunc(e.further(), touched)) {
			drop(a)
		}
	}
}

// overlap reports whether [a, a+an) and [b, b+bn) share a byte. Both lie within a device, so that
// no sum overflows.
func overlap(a, an, b, bn uint64) bool { return a < b+bn && b < a+an }
