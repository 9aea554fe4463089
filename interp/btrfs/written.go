package btrfs

import (
	"bytes"
	"slices"

	"fsward/interp"
	"fsward/interp/btrfs/ondisk"
	"fsward/interp/disk"
)

// A writtenBlock is a metadata block in the write under observation, which names the address that it goes to.
type writtenBlock struct {
	logical, addr uint64
	contents      []byte // of the write
}

// keepWritten puts the blocks of a write that is done into the cache, and what else the write touched out of it. So what a commit is
// compared with is read, summed and held against its other copies while the kernel still writes, and not while the guest waits for the
// flush. A block whose copies have not all been written with the same contents is read again when it is asked for, and so is one with which
// something is wrong.
func (f *FS) keepWritten(w *interp.Write) {
	cache := f.base.cache
	var kept []keptBlock
	for _, b := range f.written {
		if k, ok := f.keptOf(b); ok {
			kept = append(kept, k)
		}
	}
	cache.forget(w.Off, w.Len)
	for _, k := range kept {
		cache.put(k)
	}
}

// A keptBlock is what the cache has of a block of which a copy was written.
type keptBlock struct {
	addrs []uint64
	node  *ondisk.Node
	seen  uint8 // a bit for each copy that was written with these contents
}

// keptOf returns what is known of a block, with a copy that was written.
func (f *FS) keptOf(b writtenBlock) (k keptBlock, ok bool) {
	addrs, count, err := f.base.chunks.copies(b.logical, uint64(len(b.contents)), ondisk.GroupMetadata|ondisk.GroupSystem)
	which := slices.Index(addrs[:count], b.addr)
	if err != nil || which < 0 {
		return k, false
	}
	k.addrs = slices.Clone(addrs[:count])
	if k.node, k.seen = f.base.cache.written(addrs[0]); k.seen == 0 || !bytes.Equal(k.node.Bytes(), b.contents) {
		k.seen = 0
		k.node, err = checkNode(disk.NewRegion(bytes.Clone(b.contents), addrs[0]), b.logical, f.base.rules)
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
