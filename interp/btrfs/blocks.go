package btrfs

import (
	"errors"
	"iter"
	"math"
	"slices"

	"fsward/change"
	"fsward/interp/btrfs/ondisk"
)

// blockTree is the number of a tree that exists only in a View. Its objects are metadata blocks,
// the pointers in them, and ranges of free space. Rules ask for them by their whole identifier, and
// no change records exist for them.
const blockTree = math.MaxUint64

// decodeBlockObject looks up an object of blockTree.
func (v *view) decodeBlockObject(h *cachedObjects, o change.Object) error {
	h.dec.reset()
	h.dec.tree = blockTree
	switch o.Kind {
	case ondisk.KindTreeBlock:
		return v.treeBlock(&h.dec, o.ID, o.Sub)
	case ondisk.KindFreeSpace:
		return v.freeSpace(&h.dec, o.ID, o.Sub)
	case ondisk.KindBlock:
		n, err := v.state.metadata(o.ID)
		if n == nil || o.Sub != 0 {
			return err
		}
		h.dec.begin(o.Kind, o.ID, 0, 0)
		h.dec.num(ondisk.FieldLevel, uint64(n.Level()))
		h.dec.num(ondisk.FieldOwner, n.Owner())
		h.dec.num(ondisk.FieldGeneration, n.Generation())
		h.dec.num(ondisk.FieldReloc, n.Flags()&ondisk.HeaderFlagReloc>>1)
	case ondisk.KindBlockPointers:
		n, err := v.state.metadata(o.ID)
		if n == nil {
			return err
		}
		if count := pointsTo(n, o.Sub); count > 0 {
			h.dec.begin(o.Kind, o.ID, o.Sub, 0)
			h.dec.num(ondisk.FieldCount, count)
		}
	}
	return nil
}

// treeBlock looks up a block in a tree by its first key, as btrfs check does in its low-memory mode
// (check_tree_block_backref).
func (v *view) treeBlock(d *decoder, logical, tree uint64) error {
	root, ok, err := v.treeRoot(tree)
	if !ok || err != nil {
		return err
	}
	found := func(parent, owner uint64, level uint8) error {
		d.begin(ondisk.KindTreeBlock, logical, tree, 0)
		d.num(ondisk.FieldParent, parent)
		d.num(ondisk.FieldOwner, owner)
		d.num(ondisk.FieldLevel, uint64(level))
		return nil
	}
	if root.logical == logical {
		return found(0, tree, root.level)
	}
	block, err := v.state.metadata(logical)
	if block == nil || block.NrItems() == 0 { // an empty block can only be a root
		return err
	}
	for p := root.pointer; p.level > block.Level(); {
		n, err := v.state.node(p, false)
		if err != nil {
			return err
		}
		i, exact := n.Search(block.Key(0))
		if !exact {
			i--
		}
		if i < 0 || i >= n.NrItems() {
			return nil
		}
		parent := p
		p = childOf(n, i, p.chunkTree)
		if p.logical == logical {
			return found(parent.logical, n.Owner(), p.level)
		}
	}
	return nil
}

// scanPointers yields the block_pointers objects of one block from lo to hi, each target once.
func (v *view) scanPointers(lo, hi change.Object, yield func(change.Object, error) bool) {
	n, err := v.state.metadata(lo.ID)
	if err != nil {
		yield(change.Object{}, err)
		return
	}
	if n == nil {
		return
	}
	var found []uint64
	for target := range targets(n) {
		if lo.Sub <= target && target <= hi.Sub {
			found = append(found, target)
		}
	}
	slices.Sort(found)
	for _, target := range slices.Compact(found) {
		o := change.Object{Tree: blockTree, Kind: ondisk.KindBlockPointers, ID: lo.ID, Sub: target}
		if !yield(o, nil) {
			return
		}
	}
}

// pointsTo counts the pointers of a node to a block, or the file extents of a leaf that lie in an
// extent.
func pointsTo(n *ondisk.Node, logical uint64) (count uint64) {
	for target := range targets(n) {
		if target == logical {
			count++
		}
	}
	return count
}

// targets yields the children of a node, or the extents that hold the file extents of a leaf.
func targets(n *ondisk.Node) iter.Seq[uint64] {
	return func(yield func(logical uint64) bool) {
		for i := range n.NrItems() {
			target := uint64(0)
			switch {
			case n.Level() > 0:
				target, _ = n.Child(i)
			case n.Key(i).Type == ondisk.ExtentDataKey:
				e, ok := ondisk.ViewFileExtent(n.Item(i))
				if ok && e.Len() == ondisk.FileExtentSize && e.Type() != ondisk.ExtentInline {
					target = e.DiskBytenr()
				}
			}
			if target != 0 && !yield(target) { // 0 is a hole
				return
			}
		}
	}
}

// metadata reads a block by its address alone. It returns nil if there is no sound metadata block.
func (r *reader) metadata(logical uint64) (*ondisk.Node, error) {
	n, err := r.block(logical, ondisk.GroupMetadata|ondisk.GroupSystem, false)
	if _, ok := errors.AsType[*structureError](err); ok {
		return nil, nil
	}
	return n, err
}
