package btrfs

import (
	"fsward/change"
	"fsward/interp/disk"
)

// checkLeaf checks what can be said of a new leaf beyond its bounds and the contents of the items that
// changed: that checksums end before the next begin. Of a tree that is not compared, and of which no rule
// is asked, it checks the extents of files alike, and the contents of every item.
func (t *treeDiff) checkLeaf(n *node, s span) {
	ctx := &t.out.dec.ctx
	if t.quiet || t.tree == csumTreeID {
		for i := range n.nritems() {
			if err := ctx.checkNext(n, i, s); err != nil {
				t.fault(err.in(t.tree, n.key(i)))
			}
		}
	}
	if !t.quiet {
		return
	}
	if t.scratch.names == nil {
		t.scratch.names = change.NewNames()
	}
	t.scratch.ctx, t.scratch.tree = *ctx, t.tree
	t.scratch.names.Reset()
	for i := range n.nritems() {
		t.scratch.reset()
		if err := t.scratch.item(n.key(i), n.item(i)); err != nil {
			t.fault(err)
		}
		if t.failedHard() {
			return
		}
	}
}

// checkNext holds the end of what item i covers against the beginning of the next of its kind. That may
// be the first of the next leaf, whose key the parent has.
func (c *itemContext) checkNext(n *node, i int, s span) *structureError {
	k := n.key(i)
	end, ok := c.coveredUntil(k, n.item(i))
	if !ok {
		return nil
	}
	next := s.end
	if i+1 < n.nritems() {
		next = n.key(i + 1)
	} else if !s.hasEnd {
		return nil
	}
	if next.objectid == k.objectid && next.typ == k.typ && next.offset < end {
		return violatedAt(overlapRule, n.item(i).Addr(), "it ends at %d, behind where the next begins: %s", end, keyText(next))
	}
	return nil
}

// coveredUntil returns where the range ends that an item covers, in the terms of its key's offset; ok is
// false if it has none. An item that is cut short is not judged here.
func (c *itemContext) coveredUntil(k key, r disk.Region) (end uint64, ok bool) {
	var length uint64
	switch k.typ {
	case extentDataKey: // file_extent_end
		switch {
		case r.Len() >= fileExtentLayout.size && r.U8(20) != extentInline:
			length = r.U64(45)
		case r.Len() >= inlineStart && r.U8(20) == extentInline:
			length = (r.U64(8) + uint64(c.sectorSize) - 1) &^ uint64(c.sectorSize-1)
		default:
			return 0, false
		}
	case extentCsumKey:
		length = uint64(r.Len()/c.csum.size()) * uint64(c.sectorSize)
	default:
		return 0, false
	}
	end = k.offset + length
	return end, end >= k.offset
}
