package btrfs

import (
	"bytes"
	"slices"

	"fsward/interp/btrfs/ondisk"
	"fsward/interp/disk"
)

// A writtenBlock is a metadata block in the write under observation, which names the address that
// it goes to.
type writtenBlock struct {
	logical, addr uint64
	contents      []byte // of the write
}

// keepWritten puts the blocks of a write that has landed into the cache, and takes out of it what
// else the write touched. So the blocks that a commit is compared with are read, summed and held
// against their other copies while the kernel still writes, and not while the guest waits for the
// flush. A block is read again when it is asked for if its copies have not all been written with
// the same contents, or if something is wrong with it.
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

// A keptBlock is what the cache has of a block of which a copy was written.
type keptBlock struct {
	addrs []uint64
	node  *ondisk.Node
	seen  uint8 // a bit for each copy that was written with these contents
}

// keptOf returns what is known of a block, with a copy that was written.
func keptOf(base *state, b writtenBlock) (k keptBlock, ok bool) {
	addrs, count, err := base.chunks.copies(b.logical, uint64(len(b.contents)), ondisk.GroupMetadata|ondisk.GroupSystem)
	which := slices.Index(addrs[:count], b.addr)
	if err != nil || which < 0 {
		return k, false
	}
	k.addrs = slices.Clone(addrs[:count])
	if k.node, k.seen = base.cache.written(addrs[0]); k.seen == 0 || !bytes.Equal(k.node.Bytes(), b.contents) {
		k.seen = 0
		k.node, err = checkNode(disk.NewRegion(bytes.Clone(b.contents), addrs[0]), b.logical, base.rules)
	}
	k.seen |= 1 << which
	return k, err == nil
}

// written returns a block of which copies were written, and which of them; 0 if there is none such.
func (c *nodeCache) written(first uint64) (n *ondisk.Node, seen uint8) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if e, ok := c.nodes.Peek(first); ok {
		return e.node, e.seen
	}
	return nil, 0
}

// put keeps a block that was written.
func (c *nodeCache) put(k keptBlock) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.add(k.addrs, &cachedNode{node: k.node, seen: k.seen, whole: int(k.seen) == 1<<len(k.addrs)-1})
}
