package ext3

import (
	"fsward/change"
	"fsward/interp/ext3/ondisk"
)

// usedFrom returns how many blocks of the group from one on the bitmap marks as used. The count
// ends with the first free block.
func (s Snapshot) usedFrom(block uint32) (n uint32, err error) {
	g := s.Geo.GroupOf(block)
	b, err := s.Block(s.Places[g].BlockBitmap)
	if err != nil {
		return 0, err
	}
	first := block - s.Geo.GroupStart(g)
	size := s.Geo.GroupBlocks(g)
	at := first
	for at < size {
		ones := onesFrom(bitsFrom(b, at), at)
		if at += ones; ones == 0 || at%64 != 0 {
			break
		}
	}
	return min(at, size) - first, nil
}

// nextRun returns the first run of used blocks that begins at or after a block.
func (v *view) nextRun(block uint64) (o change.Object, ok bool, err error) {
	block = max(block, uint64(v.Geo.FirstData))
	for gap := 0; block < uint64(v.Geo.Blocks); {
		begins, err := v.begins(uint32(block))
		if err != nil {
			return o, false, err
		}
		n, err := v.usedFrom(uint32(block))
		if err != nil || begins {
			return change.Object{Kind: ondisk.KindBlock, ID: block, Sub: uint64(n)}, begins, err
		}
		block += uint64(max(n, 1))
		if gap++; gap > maxGap {
			return o, false, errGap
		}
	}
	return o, false, nil
}

// lastRun returns the last run of used blocks that begins before a block.
func (v *view) lastRun(block uint64) (o change.Object, ok bool, err error) {
	block = min(block, uint64(v.Geo.Blocks))
	for gap := 0; block > uint64(v.Geo.FirstData); {
		block--
		begins, err := v.begins(uint32(block))
		if err != nil {
			return o, false, err
		}
		if begins {
			n, err := v.usedFrom(uint32(block))
			return change.Object{Kind: ondisk.KindBlock, ID: block, Sub: uint64(n)}, true, err
		}
		if gap++; gap > maxGap {
			return o, false, errGap
		}
	}
	return o, false, nil
}

// begins reports whether a run of used blocks begins with a block: it is used, and the block before
// it is free or belongs to another group.
func (v *view) begins(block uint32) (bool, error) {
	used, err := v.allocated(block)
	if err != nil || !used || block == v.Geo.GroupStart(v.Geo.GroupOf(block)) {
		return used, err
	}
	before, err := v.allocated(block - 1)
	return !before, err
}

// stepRun returns the run of used blocks after that of an object, or before it.
func (v *view) stepRun(o change.Object, by int) (change.Object, bool, error) {
	if by > 0 {
		return v.nextRun(o.ID + 1)
	}
	return v.lastRun(o.ID)
}

// scanRuns yields the runs of used blocks from lo to hi. If only the length is open, it yields the
// used blocks from that block on, even if they do not begin a run.
func (v *view) scanRuns(lo, hi change.Object, by int, yield func(change.Object, error) bool) {
	within := func(o change.Object) bool { return o.Compare(lo) >= 0 && o.Compare(hi) <= 0 }
	if lo.ID == hi.ID {
		if !v.fits(lo) {
			return
		}
		n, known := v.owners.markedFrom(uint32(lo.ID))
		var err error
		if !known {
			n, err = v.usedFrom(uint32(lo.ID))
		}
		o := change.Object{Kind: ondisk.KindBlock, ID: lo.ID, Sub: uint64(n)}
		if err != nil || n > 0 && within(o) {
			yield(o, err)
		}
		return
	}
	o, ok, err := v.nextRun(lo.ID)
	if by < 0 {
		o, ok, err = v.lastRun(min(hi.ID, uint64(v.Geo.Blocks)) + 1)
	}
	for ; ok || err != nil; o, ok, err = v.stepRun(o, by) {
		if err == nil && (o.ID < lo.ID || o.ID > hi.ID) {
			return
		}
		if (err != nil || within(o)) && !yield(o, err) || err != nil {
			return
		}
	}
}

// length returns how many pointers from that of an owner on name consecutive blocks, at most as
// many as an indirect block has.
func (v *view) length(o change.Object) (change.Value, error) {
	if n, ok := v.owners.length(o); ok || o.Sub == 0 || o.Aux>>40 > 0 {
		if !ok {
			n = change.Num(1)
		}
		return n, nil
	}
	s, err := v.side(uint32(o.Sub))
	if err != nil {
		return change.Value{}, err
	}
	n := uint64(1)
	for ; n < v.Geo.Span(1); n++ {
		block, err := v.mapBlock(s.inode, o.Aux+n)
		if err != nil {
			return change.Value{}, err
		}
		if uint64(block) != o.ID+n {
			break
		}
	}
	return change.Num(n), nil
}
