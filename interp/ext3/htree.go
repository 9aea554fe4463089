package ext3

import "fsward/change"

// The index of a directory, struct dx_root and dx_node of the kernel's fs/ext4/namei.c.
const (
	dxRootInfo    = 24 // after the entries . and .., each with 12 bytes
	dxInfoLen     = 8
	dxRootEntries = dxRootInfo + dxInfoLen
	dxNodeEntries = dirHeaderLen // after an empty entry that spans the block
	dxEntryLen    = 8            // hash, block; in the first: limit and count, block
	dxMaxLevels   = 1            // more needs the feature large_dir
	dxMaxHash     = 0xfffffffe
)

// A hashRange is what the index lets a block of a directory hold: the names with hashes from low to high.
type hashRange struct{ low, high uint32 }

// An indexReader goes through the index of a directory in one state. It reads as many blocks as the index
// has, one for some 500 blocks of the directory.
type indexReader struct {
	*layout
	state  *state
	dir    uint32
	inode  inode
	hash   dirHash
	leaves map[uint32]hashRange // by number in the directory
	nodes  map[uint32]bool
	faults []change.Violation
}

func (r *indexReader) fault(block uint32, off int, format string, args ...any) {
	if len(r.faults) < maxFaults {
		r.faults = append(r.faults, on(checkHtree.at(r.geo.addr(block)+uint64(off), format, args...), kindInode, uint64(r.dir)))
	}
}

// read goes through the index. Afterwards leaves and nodes have all blocks of the directory but the first,
// unless faults were found.
func (r *indexReader) read() error {
	root := r.inode.pointer(0)
	if root == 0 || !r.geo.inRange(root) {
		return nil // reported as a pointer
	}
	b, err := r.state.block(root)
	if err != nil {
		return err
	}
	sb, err := r.state.super()
	if err != nil {
		return err
	}
	version, levels, before := b[dxRootInfo+4], b[dxRootInfo+6], len(r.faults)
	if n := recLen(b, 0); n != 12 {
		r.fault(root, 0, "the entry . takes %d bytes, want 12", n)
		return nil
	}
	switch {
	case le32(b, dxRootInfo) != 0:
		r.fault(root, dxRootInfo, "reserved_zero is %d", le32(b, dxRootInfo))
	case version >= hashVersions:
		r.fault(root, dxRootInfo+4, "the hash version is %d", version)
	case b[dxRootInfo+5] != dxInfoLen:
		r.fault(root, dxRootInfo+5, "info_length is %d, want %d", b[dxRootInfo+5], dxInfoLen)
	case levels > dxMaxLevels:
		r.fault(root, dxRootInfo+6, "indirect_levels is %d, at most %d", levels, dxMaxLevels)
	case b[dxRootInfo+7]&1 != 0:
		r.fault(root, dxRootInfo+7, "unused_flags is %#x", b[dxRootInfo+7])
	}
	if len(r.faults) > before {
		return nil
	}
	r.hash = newDirHash(sb, version)
	r.leaves, r.nodes = make(map[uint32]hashRange), make(map[uint32]bool)
	if err := r.entries(b, root, dxRootEntries, hashRange{0, dxMaxHash}, int(levels)); err != nil {
		return err
	}
	if blocks := r.inode.dirBlocks(r.geo.blockSize); len(r.faults) == before && uint64(len(r.leaves)+len(r.nodes))+1 != blocks {
		r.fault(root, dxRootEntries, "the index leads to %d blocks, the directory has %d", len(r.leaves)+len(r.nodes), blocks)
	}
	return nil
}

// entries goes through the entries of a root or node, which has the hashes of a range below it.
func (r *indexReader) entries(b []byte, block uint32, at int, all hashRange, levels int) error {
	limit, count := int(le16(b, at)), int(le16(b, at+2))
	if fit := (len(b) - at) / dxEntryLen; limit != fit || count == 0 || count > limit {
		r.fault(block, at, "count is %d, limit %d; %d entries fit", count, limit, fit)
		return nil
	}
	blocks := r.inode.dirBlocks(r.geo.blockSize)
	last := all.low
	for n := range count {
		off := at + n*dxEntryLen
		own := hashRange{all.low, all.high}
		if n > 0 {
			hash := le32(b, off)
			if hash < last {
				r.fault(block, off, "hash %#x comes after %#x", hash, last)
			}
			last, own.low = hash, hash&^1
		}
		if n+1 < count {
			own.high = le32(b, off+dxEntryLen) &^ 1
		}
		child := le32(b, off+4) & 0x0fffffff // the kernel's dx_get_block
		_, again := r.leaves[child]
		switch {
		case child == 0 || uint64(child) >= blocks:
			r.fault(block, off+4, "an entry leads to block %d of the directory, which has %d", child, blocks)
			continue
		case again || r.nodes[child]:
			r.fault(block, off+4, "block %d of the directory is led to twice", child)
			continue
		case levels == 0:
			r.leaves[child] = own
			continue
		}
		r.nodes[child] = true
		if err := r.node(child, own, levels-1); err != nil {
			return err
		}
	}
	return nil
}

func (r *indexReader) node(child uint32, own hashRange, levels int) error {
	block, err := r.mapBlock(r.state, r.inode, uint64(child))
	if err != nil || block == 0 || !r.geo.inRange(block) {
		return err // a hole is told of where it is
	}
	b, err := r.state.block(block)
	if err != nil {
		return err
	}
	if le32(b, 0) != 0 || recLen(b, 0) != len(b) || b[dirNameLen] != 0 {
		r.fault(block, 0, "a node of the index does not begin with an empty entry")
		return nil
	}
	return r.entries(b, block, dxNodeEntries, own, levels)
}

// index checks the index of a directory that has one now, or of which blocks were rewritten, and that the names in these have the
// hashes that it says, and those in blocks for which it says something else than before.
func (d *delta) index(ino uint32, before side, i inode, blocks []dirBlock) error {
	now := &indexReader{layout: d.layout, state: d.new, dir: ino, inode: i}
	if err := now.read(); err != nil {
		return err
	}
	if len(now.faults) > 0 {
		for _, v := range now.faults {
			d.fault(v)
		}
		return nil
	}
	check, moved := make(map[uint32]bool), false
	for _, b := range blocks {
		n := uint32(b.start)
		check[n] = true
		moved = moved || n == 0 || now.nodes[n]
	}
	was := &indexReader{layout: d.was, state: d.old, dir: ino, inode: before.inode}
	if old := before.mapped(ino); moved && old != nil && old.hasIndex() {
		if err := was.read(); err != nil {
			return err
		}
	}
	for n, own := range now.leaves {
		if !check[n] && (!moved || was.leaves[n] == own) {
			continue
		}
		if err := d.leafHashes(now, n, own); err != nil {
			return err
		}
	}
	return nil
}

func (d *delta) leafHashes(r *indexReader, n uint32, own hashRange) error {
	block, err := d.mapBlock(d.new, r.inode, uint64(n))
	if err != nil || block == 0 || !d.geo.inRange(block) {
		return err
	}
	b, err := d.new.block(block)
	if err != nil {
		return err
	}
	entries(b, d.geo.fileType, func(e entry) {
		if h := r.hash.of(e.name); h < own.low || h > own.high {
			r.fault(block, e.off, "%q has the hash %#x, its block is for %#x to %#x", e.name, h, own.low, own.high)
		}
	})
	for _, v := range r.faults {
		d.fault(v)
	}
	r.faults = nil
	return nil
}

// elsewhere tells of names that came to a directory and that a block of it has already which the transaction
// did not rewrite. With an index, equal names are in one block; without, Linux looks through all of them too
// before it adds a name.
func (d *delta) elsewhere(ino uint32, i inode, blocks []dirBlock) error {
	if i.hasIndex() {
		return nil
	}
	rewritten := make(map[uint64]bool, len(blocks))
	for _, b := range blocks {
		rewritten[b.start] = true
	}
	for n := range i.dirBlocks(d.geo.blockSize) {
		if rewritten[n] {
			continue
		}
		block, err := d.mapBlock(d.new, i, n)
		if err != nil {
			return err
		}
		if block == 0 || !d.geo.inRange(block) {
			continue
		}
		b, err := d.new.block(block)
		if err != nil {
			return err
		}
		entries(b, d.geo.fileType, func(e entry) {
			if d.entries.came(e.name) {
				d.fault(on(checkDirentName.at(d.geo.addr(block)+uint64(e.off), "%q occurs twice", e.name), kindInode, uint64(ino)))
			}
		})
	}
	return nil
}
