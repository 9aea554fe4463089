package btrfs

import (
	"fsward/change"
	"fsward/interp/btrfs/ondisk"
	"fsward/interp/disk"
)

// checkLeaf checks a new leaf beyond its bounds and the contents of the changed items. In the csum
// tree, the checksums of an item must end before those of the next item begin. If only the
// structure of a tree is checked, no rules run on it: then checkLeaf checks the extents of files
// the same way, and the contents of every item.
func (t *treeDiff) checkLeaf(n *ondisk.Node, s span) {
	ctx := &t.out.dec.ctx
	if t.structureOnly || t.tree == ondisk.CsumTreeID {
		for i := range n.NrItems() {
			if err := ctx.checkNext(n, i, s); err != nil {
				t.fault(err.in(t.tree, n.Key(i)))
			}
		}
	}
	if !t.structureOnly {
		return
	}
	if t.scratch.names == nil {
		t.scratch.names = change.NewNames()
	}
	t.scratch.ctx, t.scratch.tree = *ctx, t.tree
	t.scratch.names.Reset()
	for i := range n.NrItems() {
		t.scratch.reset()
		if err := t.scratch.item(n.Key(i), n.Item(i)); err != nil {
			t.fault(err)
		}
		if t.failedHard() {
			return
		}
	}
}

// checkNext checks that the range of item i ends before the range of the next item of its type
// begins. The next item may be the first of the next leaf; the parent has its key.
func (c *itemContext) checkNext(n *ondisk.Node, i int, s span) *structureError {
	k := n.Key(i)
	end, ok := c.coveredUntil(k, n.Item(i))
	if !ok {
		return nil
	}
	next := s.end
	if i+1 < n.NrItems() {
		next = n.Key(i + 1)
	} else if !s.hasEnd {
		return nil
	}
	if next.ObjectID == k.ObjectID && next.Type == k.Type && next.Offset < end {
		return violatedAt(overlapRule, n.Item(i).Addr(),
			"it ends at %d, beyond the beginning of the next item: %s", end, next.String())
	}
	return nil
}

// coveredUntil returns the end of the range that an item covers. The range begins at the item's key
// offset. ok is false if the item covers no range or is cut short.
func (c *itemContext) coveredUntil(k ondisk.Key, r disk.Region) (end uint64, ok bool) {
	var length uint64
	switch k.Type {
	case ondisk.ExtentDataKey: // file_extent_end
		e, ok := ondisk.ViewFileExtent(r)
		switch {
		case !ok:
			return 0, false
		case e.Type() == ondisk.ExtentInline:
			length = (e.RAMBytes() + uint64(c.sectorSize) - 1) &^ uint64(c.sectorSize-1)
		case e.Len() >= ondisk.FileExtentSize:
			length = e.NumBytes()
		default:
			return 0, false
		}
	case ondisk.ExtentCsumKey:
		length = uint64(r.Len()/c.csum.Size()) * uint64(c.sectorSize)
	default:
		return 0, false
	}
	end = k.Offset + length
	return end, end >= k.Offset
}
