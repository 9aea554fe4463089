package btrfs

import (
	"errors"
	"math"
	"slices"

	"fsward/change"
)

// blockTree is the number under which a View answers what metadata blocks lead to, and what of the free space no item
// says by its key. The objects in it are asked for by their whole identifier, and no records are made of them.
const blockTree = math.MaxUint64

// holdBlock answers what is known of a block.
func (v *view) holdBlock(h *holding, o change.Object) error {
	h.dec.reset()
	h.dec.tree = blockTree
	switch o.Kind {
	case kindTreeBlock:
		return v.treeBlock(&h.dec, o.ID, o.Sub)
	case kindFreeSpace:
		return v.freeSpace(&h.dec, o.ID, o.Sub)
	case kindBlock:
		n, err := v.state.metadata(o.ID)
		if n == nil || o.Sub != 0 {
			return err
		}
		h.dec.begin(o.Kind, o.ID, 0, 0)
		h.dec.num(fieldLevel, uint64(n.level()))
		h.dec.num(fieldOwner, n.owner())
		h.dec.num(fieldGeneration, n.generation())
		h.dec.num(fieldReloc, n.flags()&headerFlagReloc>>1)
	case kindBlockPointers:
		n, err := v.state.metadata(o.ID)
		if n == nil {
			return err
		}
		if count := n.pointsTo(o.Sub); count > 0 {
			h.dec.begin(o.Kind, o.ID, o.Sub, 0)
			h.dec.num(fieldCount, count)
		}
	}
	return nil
}

// treeBlock looks a block up in a tree by its first key, as btrfs check does in its mode for low memory
// (check_tree_block_backref).
func (v *view) treeBlock(d *decoder, logical, tree uint64) error {
	root, ok, err := v.treeRoot(tree)
	if !ok || err != nil {
		return err
	}
	found := func(parent, owner uint64, level uint8) error {
		d.begin(kindTreeBlock, logical, tree, 0)
		d.num(fieldParent, parent)
		d.num(fieldOwner, owner)
		d.num(fieldLevel, uint64(level))
		return nil
	}
	if root.logical == logical {
		return found(0, tree, root.level)
	}
	block, err := v.state.metadata(logical)
	if block == nil || block.nritems() == 0 { // an empty block is a root or nothing
		return err
	}
	for p := root.pointer; p.level > block.level(); {
		n, err := v.state.node(p, false)
		if err != nil {
			return err
		}
		i, exact := n.search(block.key(0))
		if !exact {
			i--
		}
		if i < 0 || i >= n.nritems() {
			return nil
		}
		parent := p
		p = childOf(n, i, p.chunkTree)
		if p.logical == logical {
			return found(parent.logical, n.owner(), p.level)
		}
	}
	return nil
}

// scanPointers yields what a block points to, each once: lo and hi are block_pointers of one block.
func (v *view) scanPointers(lo, hi change.Object, yield func(change.Object, error) bool) {
	n, err := v.state.metadata(lo.ID)
	if err != nil {
		yield(change.Object{}, err)
		return
	}
	if n == nil {
		return
	}
	var targets []uint64
	for target := range n.targets {
		if lo.Sub <= target && target <= hi.Sub {
			targets = append(targets, target)
		}
	}
	slices.Sort(targets)
	for _, target := range slices.Compact(targets) {
		if !yield(change.Object{Tree: blockTree, Kind: kindBlockPointers, ID: lo.ID, Sub: target}, nil) {
			return
		}
	}
}

// pointsTo counts the pointers of a node to a block, or the file extents of a leaf in an extent.
func (n *node) pointsTo(logical uint64) (count uint64) {
	for target := range n.targets {
		if target == logical {
			count++
		}
	}
	return count
}

// targets yields the children of a node, or the extents in which the file extents of a leaf lie.
func (n *node) targets(yield func(logical uint64) bool) {
	for i := range n.nritems() {
		target := uint64(0)
		switch {
		case n.level() > 0:
			target, _ = n.child(i)
		case n.key(i).typ == extentDataKey:
			if r := n.item(i); r.Len() == fileExtentLayout.size && r.U8(20) != 0 {
				target = r.U64(21)
			}
		}
		if target != 0 && !yield(target) { // 0 is a hole
			return
		}
	}
}

// metadata reads a block by its address alone; nil if there is no sound block of metadata.
func (r *reader) metadata(logical uint64) (*node, error) {
	n, err := r.block(logical, groupMetadata|groupSystem, false)
	if _, ok := errors.AsType[*structureError](err); ok {
		return nil, nil
	}
	return n, err
}
