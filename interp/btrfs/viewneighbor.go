package btrfs

import (
	"slices"

	"fsward/change"
	"fsward/interp/btrfs/ondisk"
)

// Previous returns the first object of the item before the item of o.
func (v *view) Previous(o change.Object) (change.Object, bool, error) { return v.neighbor(o, -1) }

// Next returns the first object of the item after the item of o.
func (v *view) Next(o change.Object) (change.Object, bool, error) { return v.neighbor(o, 1) }

// neighbor returns the first object of the next item if by is 1, or of the previous item if by is
// -1.
func (v *view) neighbor(o change.Object, by int) (change.Object, bool, error) {
	none := change.Object{}
	if o.Kind > ondisk.KindSuperBlock { // the object has no key of its own, and so no place in order
		return none, false, nil
	}
	root, ok, err := v.treeRoot(o.Tree)
	if !ok || err != nil {
		return none, false, err
	}
	k, err := v.keyOf(o, root.pointer, by)
	if err != nil {
		return none, false, err
	}
	p, ok, err := v.seek(o.Kind, o.Tree, root.pointer, k)
	if err != nil {
		return none, false, err
	}
	switch {
	case !ok && by > 0, !ok && p.path[p.depth].n.NrItems() == 0:
		return none, false, nil
	case !ok: // the position is at the last item, which is below k
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

// keyOf returns the key of the item that holds an object. If several items can hold it, keyOf
// searches them: it returns the first one if by is -1, and the last one if by is 1.
func (v *view) keyOf(o change.Object, root pointer, by int) (ondisk.Key, error) {
	spans := itemKeys(o)
	k := spans[0].lo
	if k == spans[0].hi {
		return k, nil
	}
	for _, span := range spans {
		p, ok, err := v.seek(o.Kind, o.Tree, root, span.lo)
		for ; ok && err == nil && p.key().Compare(span.hi) <= 0; ok, err = p.move(1) {
			if err := v.decode(&p); err != nil {
				return k, err
			}
			if slices.ContainsFunc(v.dec.ents, func(e entity) bool { return sameKey(e.obj, o) }) {
				if k = p.key(); by < 0 {
					return k, nil
				}
			}
		}
		if err != nil {
			return k, err
		}
	}
	return k, nil
}

// sameKey reports whether an object matches an identifier. Rules omit Aux if it only distinguishes
// objects with one key. Such an identifier matches all of them.
func sameKey(o, id change.Object) bool {
	if id.Aux == 0 {
		o.Aux = 0
	}
	return o == id
}
