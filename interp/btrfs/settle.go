package btrfs

import (
	"slices"

	"fsward/change"
	"fsward/interp/btrfs/ondisk"
)

// An extent can have any number of references. The recorder need not gather all of them: items come
// in the order of keys, and the key of a reference that has an item of its own is also the place of
// the reference among the objects. Therefore the records of objects that no later item can hold are
// written while the group is still incomplete.

const (
	// settleFrom is the least number of gathered objects at which the recorder looks for settled ones.
	settleFrom = 1 << 12
	// maxGathered bounds the objects that are gathered. An inode has at most 65,535 names
	// (BTRFS_LINK_MAX).
	maxGathered = 1 << 18
)

// settle writes the records of the gathered objects that no item from key k on can hold, if there
// are many objects. It returns an error if too many are left.
func (r *recorder) settle(k ondisk.Key) error {
	if len(r.dec.ents)+len(r.oldDec.ents) < r.settleAt {
		return nil
	}
	if r.group.Type == ondisk.ExtentItemKey {
		bound := change.Object{Tree: r.dec.tree, ID: k.ObjectID, Kind: ondisk.KindByType[k.Type],
			Sub: k.Offset}
		if bound.Kind == ondisk.KindExtentDataRef { // see keyedRef
			bound.Sub -= min(bound.Sub, maxHashChain)
		}
		sortEntities(r.dec.ents)
		sortEntities(r.oldDec.ents)
		now, _ := slices.BinarySearchFunc(r.dec.ents, bound, entity.compareObject)
		old, _ := slices.BinarySearchFunc(r.oldDec.ents, bound, entity.compareObject)
		err := r.write(r.oldDec.ents[:old], r.dec.ents[:now])
		r.dec.drop(now)
		r.oldDec.drop(old)
		if err != nil {
			return err
		}
	}
	left := len(r.dec.ents) + len(r.oldDec.ents)
	if left > maxGathered {
		return &budgetError{"objects under one key", maxGathered}
	}
	r.settleAt = max(r.settleAt, 2*left)
	return nil
}

// drop removes the first n objects, with their fields.
func (b *objectBuilder) drop(n int) {
	rest := b.ents[n:]
	vals := make([]fieldValue, 0, len(rest)*4)
	for i := range rest {
		e := &rest[i]
		from := len(vals)
		vals = append(vals, b.vals[e.from:e.to]...)
		e.from, e.to = from, len(vals)
	}
	b.ents, b.vals = append(b.ents[:0], rest...), append(b.vals[:0], vals...)
}
