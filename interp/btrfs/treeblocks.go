package btrfs

import "fsward/interp/btrfs/ondisk"

// eachTreeBlock visits the logical addresses of the metadata blocks of a state that share a byte
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
			// Past its back references, of which there may be many.
			p, ok, err = s.seek(ondisk.ExtentTreeID, root.pointer, ondisk.Key{ObjectID: k.ObjectID + size})
			continue
		}
		ok, err = p.move(1)
	}
	return err
}

// treeBlockItem reports whether an extent_item is of a metadata block.
func treeBlockItem(p *position) bool {
	item := p.item()
	extent, ok := ondisk.ViewExtentItem(item.data())
	return ok && extent.Flags()&ondisk.ExtentFlagTreeBlock != 0
}
