package ext3

import "fsward/interp"

// inferAfter is the number of commits of a mount that must follow a flush of their log before a
// missing flush counts as a fault. With barrier=0, or on a disk that claims to have no volatile
// write cache, the kernel does not flush, and the order cannot be judged. This is no fault of the
// kernel, and the disk does not record it.
const inferAfter = 3

// An order tracks the flushes before commit blocks.
type order struct {
	durable uint64 // writes up to this number are durable
	flushed bool   // there was a flush since the last commit
	last    uint64 // number of the last write to the log since the last commit
	orderly int    // commits in a row that came after a flush of their log
}

func (o *order) flush(seq uint64) { o.durable, o.flushed = max(o.durable, seq), true }

// commit checks the flushes before a commit block. whole means that the same write holds a part of
// the transaction. The result broken means a missing flush; given means that the mount has stopped
// flushing.
func (o *order) commit(whole bool) (broken, given bool) {
	ordered := o.flushed && !whole && o.last <= o.durable
	was := o.orderly >= inferAfter
	switch {
	case ordered:
		o.orderly++
	case o.flushed && was && !whole:
		broken = true
	default:
		o.orderly, given = 0, was
	}
	return broken, given
}

// committed begins the next transaction.
func (o *order) committed() { o.flushed, o.last = false, 0 }

// observeOrder checks a write of a commit block against the flushes before it.
func (f *FS) observeOrder(w interp.Write, t *transaction, obs *interp.Observation) {
	m := f.m
	geo := m.Geo
	whole := t.commit != t.start && touches(w, geo.Addr(m.Log.Block(t.start)), uint64(geo.BlockSize))
	broken, given := f.order.commit(whole)
	switch {
	case broken:
		obs.Violations = append(obs.Violations, checkFlushed.at(geo.Addr(m.Log.Block(t.commit)),
			"part of transaction %d was written and not flushed before its commit block", t.seq))
	case given:
		obs.Note = "commits are not flushed any more (barrier=0?): their order cannot be judged"
	}
}
