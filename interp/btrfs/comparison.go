package btrfs

import (
	"sync/atomic"

	"fsward/change"
	"fsward/interp"
	"fsward/interp/btrfs/ondisk"
)

// A comparer reads the states that superblocks define, and finds their differences. It owns the
// disk, the names in the records and the bounds on memory, which all comparisons of a file system
// share.
type comparer struct {
	disk      *overlay
	names     *change.Names
	logNames  []*change.Names // of the trees of a log after the first
	unflushed unflushed       // writes of metadata that are not durable yet
	limits    interp.Limits
	memory    *interp.MemoryBudget // for the difference that a commit makes
	image     *interp.ImageOptions // nil, or the options for a whole image
}

func newComparer(d interp.Disk, limits interp.Limits) comparer {
	return comparer{disk: &overlay{Disk: d}, names: change.NewNames(), limits: limits,
		memory: limits.NewMemoryBudget()}
}

// newCache returns a cache for the file system of a superblock.
func (c *comparer) newCache(sb ondisk.Superblock) *nodeCache {
	bytes := cacheBytes
	switch {
	case c.image != nil && c.image.CacheBytes > 0:
		bytes = c.image.CacheBytes
	case c.limits.Memory > 0:
		bytes = int(c.limits.Memory / 4)
	}
	return newNodeCache(sb.NodeSize(), sb.SectorSize(), bytes)
}

// attach reads the baseline from the newest superblock.
func (c *comparer) attach(devs *devices) (*state, error) {
	sb, start := devs.newest()
	s, err := loadState(c.disk, sb, start+ondisk.SuperOffset, devs, c.newCache(sb))
	if err != nil {
		return nil, baseline(err)
	}
	return s, s.complete()
}

// compare returns the state of the superblock at a device address, and its difference from a base.
// If base is nil, everything is new.
func (c *comparer) compare(
	base *state, sb ondisk.Superblock, at uint64, devs *devices, cache *nodeCache,
) (*state, *diff, error) {
	c.names.Reset()
	with := comparison{base: base, sb: sb, at: at, disk: c.disk, devs: devs, cache: cache,
		names: c.names, memory: c.memory, work: c.limits.Work.Begin()}
	with.streams = c.image == nil
	if base != nil {
		with.unflushed = c.unflushed.ranges()
	} else {
		with.image = c.image
	}
	return with.run()
}

// A comparison holds the inputs for a state and its difference from a base.
type comparison struct {
	base      *state // nil: everything is new
	sb        ondisk.Superblock
	at        uint64 // device address of sb
	disk      interp.Disk
	devs      *devices
	cache     *nodeCache
	names     *change.Names
	unflushed []addrRange  // written metadata that is not durable yet
	stopped   *atomic.Bool // nil, or the flag that stops the comparison
	memory    *interp.MemoryBudget
	work      *change.Work         // bounds the comparison and the rules; may be nil
	image     *interp.ImageOptions // nil, or the options for a whole image
	// streams: if the memory does not suffice for the records, the difference is a stream.
	streams bool
	// superLater: the superblock is not known in full yet. The transaction begins with superRecords
	// empty records, to be replaced by those of the superblock.
	superLater bool
}

// run reads the new state and compares it with the base. An error means that the new state cannot
// be read at all. Faults of its trees are in the diff.
func (c comparison) run() (*state, *diff, error) {
	s, err := bootstrap(c.disk, c.sb, c.at, c.devs, c.cache)
	if err != nil {
		return nil, nil, err
	}
	s.stopped = c.stopped
	txn := &change.Txn{Schema: ondisk.Schema, Generation: c.sb.Generation(), Names: c.names,
		Work: c.work}
	d := &diff{old: c.base, new: s, budget: newBudget(), out: newRecorder(txn, s.itemContext()),
		unflushed: c.unflushed, superLater: c.superLater, kept: keptLeaves{streams: c.streams}}
	d.out.memory, d.out.drop, d.budget.work = c.memory, c.streams, c.work
	if c.image != nil {
		d.applyImageOptions(c.image)
	}
	// While the chunk tree is read, only the chunks of the superblock are known.
	d.out.dec.ctx.chunks, d.out.dec.ctx.where = nil, nil
	if c.base != nil {
		d.out.oldDec.ctx.where = c.base.chunks
	}
	d.diffTrees()
	return s, d, nil
}
