package btrfs

import (
	"slices"

	"fsward/change"
	"fsward/interp/btrfs/ondisk"
)

// Previous returns the first object of the item before that of o.
func (v *view) Previous(o change.Object) (change.Object, bool, error) { return v.neighbour(o, -1) }

// Next returns the first object of the item behind that of o.
func (v *view) Next(o change.Object) (change.Object, bool, error) { return v.neighbour(o, 1) }

func (v *view) neighbour(o change.Object, by int) (change.Object, bool, error) {
	none := change.Object{}
	if o.Kind > ondisk.KindSuperBlock { // part of something that has a key, and in no order with what has
		return none, false, nil
	}
	root, ok, err := v.treeRoot(o.Tree)
	if !ok || err != nil {
		return none, false, err
	}
	k, hi := keyRange(o)
	var p position
	if k != hi { // the item is one of several: look which
		p, ok, err = v.seek(o.Kind, o.Tree, root.pointer, k)
		for ; ok && err == nil && p.key().Compare(hi) <= 0; ok, err = p.move(1) {
			if err := v.decode(&p); err != nil {
				return none, false, err
			}
			if slices.ContainsFunc(v.dec.ents, func(e entity) bool { return sameKey(e.obj, o) }) {
				k = p.key()
				if by < 0 {
					break
				}
			}
		}
		if err != nil {
			return none, false, err
		}
	}
	if p, ok, err = v.seek(o.Kind, o.Tree, root.pointer, k); err != nil {
		return none, false, err
	}
	switch {
	case !ok && by > 0, !ok && p.path[p.depth].n.NrItems() == 0:
		return none, false, nil
	case !ok: // behind the last item, where the position stays
	case by < 0 || p.key() == k:
		if ok, err = p.move(by); !ok || err != nil {
			return none, false, err
		}
	}
	if err := v.decode(&p); err != nil {
		return none, false, err
	}
	if len(v.dec.ents) == 0 {
		return none, false, nil
	}
	return v.dec.ents[0].obj, true, nil
}

// sameKey reports whether an object is the one asked for. Rules write an identifier without Aux
// where that only tells apart objects with one key; then the first of them in the direction of the
// walk counts.
func sameKey(o, asked change.Object) bool {
	if asked.Aux == 0 {
		o.Aux = 0
	}
	return o == asked
}
