package btrfs

import (
	"sync/atomic"

	"fsward/change"
	"fsward/interp"
	"fsward/interp/btrfs/ondisk"
)

// A judgement is what was said of a superblock, for the further copies of it.
type judgement struct {
	identity   [ondisk.SuperSize]byte
	chunks     *chunkMap // where metadata lies
	generation uint64
	violations []change.Violation
	unknown    error
	settled    bool
	written    bool // it was let through
	stale      bool // metadata was written since
}

// commit judges a new generation.
func (f *FS) commit(base *state, at uint64, sb ondisk.Superblock, obs *interp.Observation) {
	obs.Point = interp.CommitPoint
	if fc := f.foreseen(base, sb); fc != nil {
		obs.Txn, obs.View = fc.diff.out.txn, fc.view
		f.judge(base, fc.settled(f.disk, sb), at, sb, obs)
		return
	}
	s, d, err := f.compareBase(base, sb, at)
	if source, target := base.replacement(); target != nil && (err != nil || d.failed()) {
		// The commit may be the one with which a replacement ends: what it wrote is then on the target alone,
		// whose own superblock may come later.
		if moved, moveErr := base.replaced(source.start, target.start); moveErr == nil {
			if s2, d2, err2 := f.compareBase(moved, sb, at); err2 == nil && !d2.failed() {
				s, d, err = s2, d2, nil
			}
		}
	}
	switch {
	case err != nil:
		f.refuseSuper(err, obs)
	case d.failed():
		obs.Violations = d.faults
		if d.unknown != nil {
			obs.Unknown = describe(sb.Generation(), d.unknown)
		}
	default:
		obs.Txn, obs.View = d.out.txn, newView(s, f.names)
	}
	f.judge(base, s, at, sb, obs)
}

// judge notes what was said of a new generation, and what to do when it is written. s is its state, nil if there
// is none.
func (f *FS) judge(base, s *state, at uint64, sb ondisk.Superblock, obs *interp.Observation) {
	if obs.Txn != nil {
		if err := s.complete(); err != nil && base.complete() == nil {
			obs.Note = err.Error()
		}
	}
	j := &judgement{identity: identityOf(sb), chunks: base.chunks, generation: sb.Generation(), violations: obs.Violations, unknown: obs.Unknown}
	if s != nil {
		j.chunks = s.chunks
	}
	f.judged = j
	f.settle = func(written bool) {
		j.settled, j.written = true, written
		if !written {
			return
		}
		if s == nil || obs.Txn == nil {
			f.letThrough(base, sb, at)
			return
		}
		f.base, f.log = s, nil
	}
}

// compareBase is compare with the base, unless that is not to be compared with.
func (f *FS) compareBase(base *state, sb ondisk.Superblock, at uint64) (*state, *diff, error) {
	if base.unsound {
		return f.compare(nil, sb, at, base.devs, base.cache)
	}
	return f.compare(base, sb, at, base.devs, base.cache)
}

// letThrough goes on after a commit that was not judged sound, as good as it can: with what the new
// superblock says if that can be read, else with the chunks as they were.
func (f *FS) letThrough(base *state, sb ondisk.Superblock, at uint64) {
	s, err := loadState(f.disk, sb, at, base.devs, base.cache)
	if err != nil {
		s = base
		s.sb = sb
	}
	s.unsound = true
	f.base, f.log = s, nil
}

// compare makes the state of a superblock and its difference from a base; nil compares with nothing.
func (f *FS) compare(base *state, sb ondisk.Superblock, at uint64, devs *devices, cache *nodeCache) (*state, *diff, error) {
	f.names.Reset()
	c := comparison{base: base, sb: sb, at: at, disk: f.disk, devs: devs, cache: cache, names: f.names, memory: f.memory}
	if base != nil {
		c.unflushed = f.order.stretches()
	} else {
		c.follows = f.follows
	}
	return c.run()
}

// A comparison is what a state and its difference from a base are made of.
type comparison struct {
	base      *state // nil: there is nothing to compare with
	sb        ondisk.Superblock
	at        uint64 // where it stands
	disk      interp.Disk
	devs      *devices
	cache     *nodeCache
	names     *change.Names
	unflushed []stretch    // what was written and is not durable yet
	stopped   *atomic.Bool // nil, or what ends it before its time
	memory    *interp.MemoryBudget
	follows   func(*diff) // nil, or what looks on
	// superLater: the superblock is not known in full. The records begin with superRoom empty ones in the place of its own.
	superLater bool
}

func (c comparison) run() (*state, *diff, error) {
	s, err := bootstrap(c.disk, c.sb, c.at, c.devs, c.cache)
	if err != nil {
		return nil, nil, err
	}
	s.stopped = c.stopped
	txn := &change.Txn{Schema: ondisk.Schema, Generation: c.sb.Generation(), Names: c.names}
	d := &diff{old: c.base, new: s, budget: newBudget(), out: newRecorder(txn, s.itemContext()), unflushed: c.unflushed, superLater: c.superLater}
	d.out.memory = c.memory
	if c.follows != nil {
		c.follows(d)
	}
	// While the chunk tree is read, only the chunks of the superblock are known.
	d.out.dec.ctx.chunks, d.out.dec.ctx.where = nil, nil
	if c.base != nil {
		d.out.oldDec.ctx.where = c.base.chunks
	}
	d.run()
	return s, d, nil
}

// err returns the first thing that is wrong with the new state, or nil.
func (d *diff) err() error {
	if len(d.faults) > 0 {
		return &structureError{d.faults[0]}
	}
	return d.unknown
}
