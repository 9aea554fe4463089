package btrfs

import (
	"errors"
	"sort"

	"fsward/change"
	"fsward/interp/btrfs/ondisk"
)

// finds are the recorders for calls of commitStream.Find, which may be nested.
type finds struct {
	meter change.WorkMeter // counts the records that are made
	idle  []*recorder
	cache change.FindCache
}

// errFound ends a search whose visitor has found what it wants.
var errFound = errors.New("found")

// Find visits the records of the objects from lo to hi. The visitor may call Find.
func (s *commitStream) Find(lo, hi change.Object, visit func(*change.Record) bool) error {
	search := func(visit func(*change.Record) bool) error { return s.find(lo, hi, visit) }
	return s.finds.cache.Find(s.names, lo, hi, search, visit)
}

// find visits the records of the items that can hold the objects from lo to hi.
func (s *commitStream) find(lo, hi change.Object, visit func(*change.Record) bool) error {
	l := s.trees[lo.Tree]
	if lo.Kind >= ondisk.KindCount || l == nil && lo.Tree != ondisk.SuperObject.Tree {
		return nil
	}
	out := s.idleRecorder()
	defer func() {
		out.txn.Records = out.txn.Records[:0]
		s.finds.idle = append(s.finds.idle, out)
	}()
	out.sink = func(part *change.Txn) error {
		defer func() { part.Records = part.Records[:0] }()
		if err := s.finds.meter.Spend(int64(len(part.Records))); err != nil {
			return err
		}
		for i := range part.Records {
			if !visit(&part.Records[i]) {
				return errFound
			}
		}
		return nil
	}
	var err error
	if l == nil {
		err = s.super(out)
	} else {
		err = s.record(out, l, objectKeys(lo, hi)...)
	}
	if err == nil {
		err = out.sink(out.txn)
	}
	if errors.Is(err, errFound) {
		err = nil
	}
	return err
}

// idleRecorder returns a recorder that no call of Find uses.
func (s *commitStream) idleRecorder() *recorder {
	n := len(s.finds.idle)
	if n == 0 {
		return s.recorder(nil)
	}
	out := s.finds.idle[n-1]
	s.finds.idle = s.finds.idle[:n-1]
	return out
}

// objectKeys returns the keys of the items that can hold the objects from lo to hi. A back
// reference is in the item of its extent or in one of its own, and an extent can have any number
// of others.
func objectKeys(lo, hi change.Object) (intervals []keyInterval) {
	if lo.ID != hi.ID || lo.Kind != hi.Kind || lo.Sub != hi.Sub {
		return []keyInterval{(keyBounds{scanStart(lo), scanEnd(hi)}).interval()}
	}
	for _, span := range itemKeys(lo) {
		if span != (keyBounds{}) {
			intervals = append(intervals, span.interval())
		}
	}
	return intervals
}

// interval returns the same keys as a keyInterval.
func (k keyBounds) interval() keyInterval {
	end := after(k.hi)
	return keyInterval{from: k.lo, end: end, hasEnd: end != ondisk.Key{}}
}

// from returns the leaves that can hold keys from k on.
func from(leaves []leaf, k ondisk.Key) []leaf {
	i := sort.Search(len(leaves), func(i int) bool { return leaves[i].first.Compare(k) > 0 })
	return leaves[max(i-1, 0):]
}

// after returns the next key, or the zero key after the last one.
func after(k ondisk.Key) ondisk.Key {
	if k.Offset++; k.Offset == 0 {
		if k.Type++; k.Type == 0 {
			k.ObjectID++
		}
	}
	return k
}
