package btrfs

import (
	"bytes"
	"slices"

	"fsward/interp/btrfs/ondisk"
	"fsward/interp/disk"
)

// A writtenBlock is a metadata block in the write under observation. It goes to the address that
// its header names.
type writtenBlock struct {
	logical, addr uint64
	contents      []byte // of the write
}

// keepWritten puts the blocks of a write that has landed into the cache, and drops the other blocks
// that the write touched. The checks of a block, including its checksum and the comparison of its
// copies, thus run while the kernel still writes, and not while the guest waits for the flush. A
// block is read from the disk later if its copies were not all written with the same contents, or
// if it is not sound.
func keepWritten(base *state, p *pendingWrite) {
	var kept []keptBlock
	for _, b := range p.blocks {
		if k, ok := keptOf(base, b); ok {
			kept = append(kept, k)
		}
	}
	base.cache.forget(p.write.Off, p.write.Len)
	for _, k := range kept {
		base.cache.put(k)
	}
}

// A keptBlock is the cache entry for a block after a copy was written.
type keptBlock struct {
	addrs []uint64
	node  *ondisk.Node
	seen  uint8 // a bit for each copy that was written with these contents
}

// keptOf returns the entry for a block after a copy was written. ok is false if the block is not
// sound.
func keptOf(base *state, b writtenBlock) (k keptBlock, ok bool) {
	const types = ondisk.GroupMetadata | ondisk.GroupSystem
	addrs, count, err := base.chunks.copies(b.logical, uint64(len(b.contents)), types)
	which := slices.Index(addrs[:count], b.addr)
	if err != nil || which < 0 {
		return k, false
	}
	k.addrs = slices.Clone(addrs[:count])
	k.node, k.seen = base.cache.written(addrs[0])
	if k.seen == 0 || !bytes.Equal(k.node.Bytes(), b.contents) {
		k.seen = 0
		r := disk.NewRegion(bytes.Clone(b.contents), addrs[0])
		k.node, err = checkNode(r, b.logical, base.rules)
	}
	k.seen |= 1 << which
	return k, err == nil
}

// written returns the cached block whose first copy has an address, and a bit for each copy that
// was written. seen is 0 if there is no such block.
func (c *nodeCache) written(first uint64) (n *ondisk.Node, seen uint8) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if e, ok := c.nodes.Peek(first); ok {
		return e.node, e.seen
	}
	return nil, 0
}

// put replaces the entry of a block that was written.
func (c *nodeCache) put(k keptBlock) {
	whole := int(k.seen) == 1<<len(k.addrs)-1
	c.mu.Lock()
	defer c.mu.Unlock()
	c.add(k.addrs, &cachedNode{node: k.node, seen: k.seen, whole: whole})
}
