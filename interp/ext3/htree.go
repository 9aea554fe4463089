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
	dxHashes      = 6            // legacy, half_md4, tea, and the unsigned form of each
)

// checkIndex checks the index of a directory. rewrote selects the blocks that are looked at beyond the
// root; the others were checked when they were written.
func (l *layout) checkIndex(s *state, dir uint32, i inode, rewrote func(uint32) bool) (faults []change.Violation, err error) {
	root := i.pointer(0)
	if root == 0 || !l.geo.inRange(root) {
		return nil, nil // reported as a pointer
	}
	b, err := s.block(root)
	if err != nil {
		return nil, err
	}
	fault := func(block uint32, off int, format string, args ...any) {
		if len(faults) < maxFaults {
			faults = append(faults, on(checkHtree.at(l.geo.addr(block)+uint64(off), format, args...), kindInode, uint64(dir)))
		}
	}
	if n := recLen(b, 0); n != 12 {
		fault(root, 0, "the entry . takes %d bytes, want 12", n)
		return faults, nil
	}
	levels := b[dxRootInfo+6]
	switch {
	case le32(b, dxRootInfo) != 0:
		fault(root, dxRootInfo, "reserved_zero is %d", le32(b, dxRootInfo))
	case b[dxRootInfo+4] >= dxHashes:
		fault(root, dxRootInfo+4, "the hash version is %d", b[dxRootInfo+4])
	case b[dxRootInfo+5] != dxInfoLen:
		fault(root, dxRootInfo+5, "info_length is %d, want %d", b[dxRootInfo+5], dxInfoLen)
	case levels > dxMaxLevels:
		fault(root, dxRootInfo+6, "indirect_levels is %d, at most %d", levels, dxMaxLevels)
	}
	if len(faults) > 0 {
		return faults, nil
	}
	blocks := i.dirBlocks(l.geo.blockSize)
	children := l.checkIndexBlock(b, root, dxRootEntries, blocks, fault)
	if levels == 0 {
		return faults, nil
	}
	for _, child := range children {
		block, err := l.mapBlock(s, i, uint64(child))
		if err != nil {
			return nil, err
		}
		if block == 0 || !l.geo.inRange(block) || !rewrote(block) {
			continue
		}
		node, err := s.block(block)
		if err != nil {
			return nil, err
		}
		if le32(node, 0) != 0 || recLen(node, 0) != len(node) {
			fault(block, 0, "a node of the index does not begin with an empty entry")
			continue
		}
		l.checkIndexBlock(node, block, dxNodeEntries, blocks, fault)
	}
	return faults, nil
}

// checkIndexBlock checks the entries of a root or node and returns the blocks of the directory that
// they name.
func (l *layout) checkIndexBlock(b []byte, block uint32, at int, blocks uint64, fault func(uint32, int, string, ...any)) (children []uint32) {
	limit, count := int(le16(b, at)), int(le16(b, at+2))
	fit := (len(b) - at) / dxEntryLen
	if limit != fit || count == 0 || count > limit {
		fault(block, at, "count is %d, limit %d; %d entries fit", count, limit, fit)
		return nil
	}
	last := uint32(0)
	for n := range count {
		off := at + n*dxEntryLen
		if n > 0 {
			if hash := le32(b, off); hash < last {
				fault(block, off, "hash %#x comes after %#x", hash, last)
			} else {
				last = hash
			}
		}
		child := le32(b, off+4) & 0x0fffffff // the kernel's dx_get_block
		if child == 0 || uint64(child) >= blocks {
			fault(block, off+4, "an entry leads to block %d of the directory, which has %d", child, blocks)
			continue
		}
		children = append(children, child)
	}
	return children
}
