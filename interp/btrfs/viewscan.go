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

// Walk yields what Scan does.
func (v *view) Walk(lo, hi change.Object, yield func(change.Object, error) bool) {
	v.scan(lo, hi, 1, yield)
}

// ScanDown yields the objects from hi to lo.
func (v *view) ScanDown(lo, hi change.Object) iter.Seq2[change.Object, error] {
	return func(yield func(change.Object, error) bool) { v.scan(lo, hi, -1, yield) }
}

func (v *view) scan(lo, hi change.Object, by int, yield func(change.Object, error) bool) {
	if lo.Tree == ondisk.SuperObject.Tree {
		if lo.Compare(ondisk.SuperObject) <= 0 && ondisk.SuperObject.Compare(hi) <= 0 {
			yield(ondisk.SuperObject, nil)
		}
		return
	}
	if lo.ID == hi.ID && lo.Kind == hi.Kind && lo.Sub == hi.Sub && lo.Kind != 0 && lo.Kind < ondisk.KindCount {
		v.scanKey(lo, hi, yield)
		return
	}
	if lo.Tree == blockTree {
		if by > 0 && lo.Kind == ondisk.KindBlockPointers && hi.Kind == lo.Kind && hi.ID == lo.ID {
			v.scanPointers(lo, hi, yield)
		}
		return
	}
	root, ok, err := v.treeRoot(lo.Tree)
	if !ok || err != nil || lo.Compare(hi) > 0 {
		if err != nil {
			yield(change.Object{}, err)
		}
		return
	}
	first, last := scanStart(lo), scanEnd(hi)
	var p position
	if by > 0 {
		p, ok, err = v.seek(lo.Kind, lo.Tree, root.pointer, first)
	} else if p, ok, err = v.seek(lo.Kind, lo.Tree, root.pointer, last); err == nil {
		ok, err = p.back(ok, last)
	}
	var objs []change.Object
	for ok && err == nil && first.Compare(p.key()) <= 0 && p.key().Compare(last) <= 0 {
		group := groupOf(p.key())
		objs = objs[:0]
		for ; ok && err == nil && groupOf(p.key()) == group; ok, err = p.move(by) {
			if err = v.decode(&p); err != nil {
				break
			}
			for _, e := range v.dec.ents {
				objs = append(objs, e.obj)
			}
			if len(objs) > maxGroup {
				err = &budgetError{"objects under one key", maxGroup}
				break
			}
		}
		if err != nil {
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

// scanKey yields the objects from lo to hi, which share one key.
func (v *view) scanKey(lo, hi change.Object, yield func(change.Object, error) bool) {
	h, err := v.objectsFor(lo, nil)
	if err != nil {
		yield(change.Object{}, err)
		return
	}
	i, _ := slices.BinarySearchFunc(h.dec.ents, lo, func(e entity, o change.Object) int { return e.obj.Compare(o) })
	var few [4]change.Object
	objs := few[:0]
	for ; i < len(h.dec.ents) && h.dec.ents[i].obj.Compare(hi) <= 0; i++ {
		objs = append(objs, h.dec.ents[i].obj)
	}
	for _, o := range objs { // what is yielded may look up others and so change the holding
		if !yield(o, nil) {
			return
		}
	}
}

// scanStart is the first key that can hold objects from lo on.
func scanStart(lo change.Object) ondisk.Key {
	switch {
	case lo.Kind == 0:
		return ondisk.Key{ObjectID: lo.ID}
	case lo.Kind >= ondisk.KindCount:
		return ondisk.Key{ObjectID: lo.ID, Type: math.MaxUint8, Offset: math.MaxUint64}
	}
	return groupOf(ondisk.Key{ObjectID: lo.ID, Type: ondisk.ItemTypes[lo.Kind].Type, Offset: lo.Sub})
}

// scanEnd is the last key that can hold objects up to hi.
func scanEnd(hi change.Object) ondisk.Key {
	switch {
	case hi.Kind == 0:
		return ondisk.Key{ObjectID: hi.ID}
	case hi.Kind >= ondisk.KindCount:
		return ondisk.Key{ObjectID: hi.ID, Type: math.MaxUint8, Offset: math.MaxUint64}
	}
	return lastOfGroup(ondisk.Key{ObjectID: hi.ID, Type: ondisk.ItemTypes[hi.Kind].Type, Offset: hi.Sub})
}
