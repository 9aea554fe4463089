package btrfs

import (
	"iter"
	"math"
	"slices"

	"fsward/change"
	"fsward/interp/btrfs/ondisk"
)

// Scan yields the objects from lo to hi in order.
func (v *view) Scan(lo, hi change.Object) iter.Seq2[change.Object, error] {
	return func(yield func(change.Object, error) bool) { v.scan(lo, hi, 1, yield) }
}

// Walk calls yield for the objects from lo to hi in order, as Scan does.
func (v *view) Walk(lo, hi change.Object, yield func(change.Object, error) bool) {
	v.scan(lo, hi, 1, yield)
}

// ScanDown yields the objects from hi to lo in descending order.
func (v *view) ScanDown(lo, hi change.Object) iter.Seq2[change.Object, error] {
	return func(yield func(change.Object, error) bool) { v.scan(lo, hi, -1, yield) }
}

// scan yields the objects from lo to hi, in ascending order if by is 1 and in descending order if
// by is -1.
func (v *view) scan(lo, hi change.Object, by int, yield func(change.Object, error) bool) {
	if lo.Tree == ondisk.SuperObject.Tree {
		if lo.Compare(ondisk.SuperObject) <= 0 && ondisk.SuperObject.Compare(hi) <= 0 {
			yield(ondisk.SuperObject, nil)
		}
		return
	}
	sameID := lo.ID == hi.ID && lo.Kind == hi.Kind
	if sameID && lo.Sub == hi.Sub && lo.Kind != 0 && lo.Kind < ondisk.KindCount {
		v.scanKey(lo, hi, yield)
		return
	}
	if lo.Tree == blockTree {
		if sameID && by > 0 && lo.Kind == ondisk.KindBlockPointers {
			v.scanPointers(lo, hi, yield)
		}
		return
	}
	root, ok, err := v.treeRoot(lo.Tree)
	if err != nil {
		yield(change.Object{}, err)
		return
	}
	if ok && lo.Compare(hi) <= 0 {
		v.scanItems(root.pointer, lo, hi, by, yield)
	}
}

// scanItems is scan in the items of one tree.
func (v *view) scanItems(
	root pointer, lo, hi change.Object, by int, yield func(change.Object, error) bool,
) {
	first, last := scanKeys(lo, hi)
	from := first
	if by < 0 {
		from = last
	}
	p, ok, err := v.seek(lo.Kind, lo.Tree, root, from)
	if by < 0 && err == nil {
		ok, err = p.back(ok, last)
	}
	var objs []change.Object
	for ok && err == nil && first.Compare(p.key()) <= 0 && p.key().Compare(last) <= 0 {
		if objs, ok, err = v.groupObjects(&p, by, first, last, objs[:0]); err != nil {
			break
		}
		slices.SortFunc(objs, change.Object.Compare)
		if by < 0 {
			slices.Reverse(objs)
		}
		for _, o := range objs {
			if o.Compare(lo) >= 0 && o.Compare(hi) <= 0 && !yield(o, nil) {
				return
			}
		}
	}
	if err != nil {
		yield(change.Object{}, err)
	}
}

// groupObjects appends the objects in the items from first to last of the group at a position to
// objs, and moves behind them. ok is false if no item follows.
func (v *view) groupObjects(
	p *position, by int, first, last ondisk.Key, objs []change.Object,
) (_ []change.Object, ok bool, err error) {
	group := groupOf(p.key())
	for ok = true; ok && groupOf(p.key()) == group; {
		if k := p.key(); k.Compare(first) < 0 || last.Compare(k) < 0 {
			break
		}
		if err := v.decode(p); err != nil {
			return objs, false, err
		}
		for _, e := range v.dec.ents {
			objs = append(objs, e.obj)
		}
		if len(objs) > maxGroup {
			return objs, false, &budgetError{"objects under one key", maxGroup}
		}
		if ok, err = p.move(by); err != nil {
			return objs, false, err
		}
	}
	return objs, ok, v.meter.Spend(int64(len(objs)))
}

// scanKey yields the objects from lo to hi, which share one key.
func (v *view) scanKey(lo, hi change.Object, yield func(change.Object, error) bool) {
	h, err := v.objectsFor(lo, nil)
	if err != nil {
		yield(change.Object{}, err)
		return
	}
	i, _ := slices.BinarySearchFunc(h.dec.ents, lo, entity.compareObject)
	var few [4]change.Object
	objs := few[:0]
	for ; i < len(h.dec.ents) && h.dec.ents[i].obj.Compare(hi) <= 0; i++ {
		objs = append(objs, h.dec.ents[i].obj)
	}
	for _, o := range objs { // a copy, since yield may look up objects and so change the cache
		if !yield(o, nil) {
			return
		}
	}
}

// scanKeys returns the first and the last key that can hold objects from lo to hi.
func scanKeys(lo, hi change.Object) (first, last ondisk.Key) {
	if lo.ID == hi.ID && lo.Kind == hi.Kind {
		// An extent is in an item of its own type, and not among its references.
		first, last := itemKeys(lo)[0], itemKeys(hi)[0]
		if first.lo == first.hi && last.lo == last.hi {
			return first.lo, last.hi
		}
	}
	return scanStart(lo), scanEnd(hi)
}

// scanStart returns the first key that can hold objects from lo on.
func scanStart(lo change.Object) ondisk.Key {
	switch {
	case lo.Kind == 0:
		return ondisk.Key{ObjectID: lo.ID}
	case lo.Kind >= ondisk.KindCount:
		return ondisk.Key{ObjectID: lo.ID, Type: math.MaxUint8, Offset: math.MaxUint64}
	}
	return groupOf(ondisk.Key{ObjectID: lo.ID, Type: ondisk.ItemTypes[lo.Kind].Type, Offset: lo.Sub})
}

// scanEnd returns the last key that can hold objects up to hi.
func scanEnd(hi change.Object) ondisk.Key {
	switch {
	case hi.Kind == 0:
		return ondisk.Key{ObjectID: hi.ID}
	case hi.Kind >= ondisk.KindCount:
		return ondisk.Key{ObjectID: hi.ID, Type: math.MaxUint8, Offset: math.MaxUint64}
	}
	typ := ondisk.ItemTypes[hi.Kind].Type
	return lastOfGroup(ondisk.Key{ObjectID: hi.ID, Type: typ, Offset: hi.Sub})
}
