package btrfs

import "fsward/interp/btrfs/ondisk"

// eachTreeBlock visits the logical address of each metadata block of a state that shares a byte
// with [lo, hi).
func (s *state) eachTreeBlock(lo, hi uint64, visit func(logical uint64) error) error {
	size := uint64(s.rules.nodeSize)
	root, ok, err := s.treeRoot(ondisk.ExtentTreeID)
	if err != nil || !ok {
		return err
	}
	from := uint64(0)
	if lo >= size {
		from = lo - size + 1
	}
	p, ok, err := s.seek(ondisk.ExtentTreeID, root.pointer, ondisk.Key{ObjectID: from})
	for ok && err == nil && p.key().ObjectID < hi {
		k := p.key()
		if k.Type == ondisk.MetadataItemKey || k.Type == ondisk.ExtentItemKey && treeBlockItem(p) {
			if err := visit(k.ObjectID); err != nil {
				return err
			}
			// Skip the back references of the block, which may be many.
			next := ondisk.Key{ObjectID: k.ObjectID + size}
			p, ok, err = s.seek(ondisk.ExtentTreeID, root.pointer, next)
			continue
		}
		ok, err = p.move(1)
	}
	return err
}

// treeBlockItem reports whether an extent_item describes a metadata block.
func treeBlockItem(p *position) bool {
	item := p.item()
	extent, ok := ondisk.ViewExtentItem(item.data())
	return ok && extent.Flags()&ondisk.ExtentFlagTreeBlock != 0
}
