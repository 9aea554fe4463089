package ext3

import (
	"errors"
	"fmt"
	"fsward/change"
	"fsward/interp/ext3/ondisk"
	"iter"
	"slices"
)

var errGap = fmt.Errorf("ext3: more than %d numbers without an object; a narrower range is needed",
	maxGap)

// maxGap bounds the unused numbers of inodes or blocks between one object and the next.
const maxGap = 1 << 20

var errNoScan = errors.New("ext3: the owners of a block can be queried one by one, and not listed")

// Scan yields the objects of one kind from lo to hi.
func (v *view) Scan(lo, hi change.Object) iter.Seq2[change.Object, error] {
	return v.scan(lo, hi,
		1)
}

// ScanDown yields the objects of one kind from hi to lo.
func (v *view) ScanDown(lo, hi change.Object) iter.Seq2[change.Object, error] {
	return v.scan(lo, hi, -1)
}

func (v *view) scan(lo, hi change.Object, by int) iter.Seq2[change.Object, error] {
	return func(yield func(change.Object, error) bool) {
		switch lo.Kind {
		case ondisk.KindOwner, ondisk.KindXattrOwner:
			v.scanOwners(lo, hi, by, yield)
			return
		case ondisk.KindBlock:
			v.scanRuns(lo, hi, by, yield)
			return
		case ondisk.KindDirent:
			if err := v.scanEntries(lo, hi, by, yield); err != nil {
				yield(change.Object{}, err)
			}
			return
		}
		at, end := lo, hi
		if by < 0 {
			at, end = hi, lo
			at.ID = min(at.ID, v.lastID(at.Kind))
		}
		for o, ok, err := v.from(at, by); ok || err != nil; o, ok, err = v.step(o, by) {
			if err != nil {
				yield(change.Object{}, err)
				return
			}
			if by*o.Compare(end) > 0 || !yield(o, nil) {
				return
			}
		}
	}
}

// scanOwners yields the owners of one block.
func (v *view) scanOwners(lo, hi change.Object, by int, yield func(change.Object, error) bool) {
	if v.owners == nil || lo.ID != hi.ID {
		yield(change.Object{}, errNoScan)
		return
	}
	owners, err := v.owners.of(lo.Kind, lo.ID)
	if err != nil {
		yield(change.Object{}, err)
		return
	}
	if by < 0 {
		owners = slices.Clone(owners)
		slices.Reverse(owners)
	}
	for _, o := range owners {
		if o.Compare(lo) >= 0 && o.Compare(hi) <= 0 && !yield(o, nil) {
			return
		}
	}
}

// from returns o if it exists, else the next object in a direction.
func (v *view) from(o change.Object, by int) (change.Object, bool, error) {
	o.Sub, o.Aux = 0, 0
	if ok, err := v.Exists(o); ok || err != nil {
		return o, ok, err
	}
	return v.step(o, by)
}

// lastID returns the greatest number that an object of a kind can have.
func (v *view) lastID(k change.Kind) uint64 {
	switch k {
	case ondisk.KindSuperblock:
		return 0
	case ondisk.KindGroup:
		return uint64(v.Geo.Groups) - 1
	case ondisk.KindInode, ondisk.KindInodeBit, ondisk.KindDirent, ondisk.KindOrphan:
		return uint64(v.Geo.Inodes)
	default:
		return uint64(v.Geo.Blocks) - 1
	}
}

// Next returns the next object of o's kind. Entries of a directory are in the order of their
// handles.
func (v *view) Next(o change.Object) (change.Object, bool, error) { return v.step(o, 1) }

// Previous returns the object of o's kind before it.
func (v *view) Previous(o change.Object) (change.Object, bool, error) { return v.step(o, -1) }

func (v *view) step(o change.Object, by int) (change.Object, bool, error) {
	switch o.Kind {
	case ondisk.KindOwner, ondisk.KindXattrOwner:
		return change.Object{}, false, errNoScan
	case ondisk.KindBlock:
		return v.stepRun(o, by)
	case ondisk.KindDirent:
		return v.stepEntry(o, by)
	}
	n := change.Object{Kind: o.Kind, ID: o.ID + uint64(by)}
	if o.ID == 0 && by < 0 {
		return n, false, nil
	}
	if by > 0 && !v.fits(n) && o.ID == 0 { // the numbers of inodes and blocks can begin with 1
		n.ID++
	}
	for gap := 0; v.fits(n); n.ID += uint64(by) {
		if ok, err := v.Exists(n); ok || err != nil {
			return n, ok, err
		}
		if gap++; gap > maxGap {
			return n, false, errGap
		}
	}
	return change.Object{}, false, nil
}
