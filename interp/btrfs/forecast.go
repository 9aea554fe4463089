package btrfs

import (
	"bytes"
	"encoding/binary"
	"sync/atomic"

	"fsward/change"
	"fsward/interp"
	"fsward/interp/btrfs/ondisk"
)

// pendingRoots are the roots that the next superblock will lead to, as far as they were written:
// Btrfs writes all trees of a transaction, flushes, and then writes the superblock
// (btrfs_write_and_wait_transaction, write_all_supers).
type pendingRoots struct {
	root, chunkRoot pointer // of the highest generation seen; logical is 0 where none was
	count           uint64  // blocks of root trees seen
}

// note looks at a block that is written, which is as long as its header at least. Of the blocks of
// a root tree the highest is its root; one that was changed again after it had been written stands
// in two places, and the later counts.
func (c *pendingRoots) note(b []byte) {
	p := pointer{binary.LittleEndian.Uint64(b[ondisk.HeaderBytenrAt:]), binary.LittleEndian.Uint64(b[ondisk.HeaderGenerationAt:]), b[ondisk.HeaderLevelAt], false}
	at := &c.root
	switch binary.LittleEndian.Uint64(b[ondisk.HeaderOwnerAt:]) {
	case ondisk.RootTreeID:
		c.count++
	case ondisk.ChunkTreeID:
		at, p.chunkTree = &c.chunkRoot, true
	default:
		return
	}
	if p.generation > at.generation || p.generation == at.generation && p.level >= at.level {
		*at = p
	}
}

// A forecast is the difference that the next commit makes, found while the guest still waits for
// its flush. It is used if the superblock that comes is the one expected and nothing was written to
// metadata meanwhile. Then it is what would have been found with the superblock; else it is thrown
// away. See docs/decisions/0021.
type forecast struct {
	interp.Foresight
	base    *state
	baseSB  *[ondisk.SuperSize]byte // of base: log commits put another in its place
	old     state                   // base, with a reader of its own
	sb      ondisk.Superblock       // the one expected
	at      uint64                  // where
	writes  uint64                  // FS.writes when the forecast was made
	names   *change.Names
	stopped atomic.Bool

	// Valid if ok is set, once prepared is closed.
	ok   bool
	now  *state
	diff *diff
	view *view
}

var _ interp.Forecaster = (*FS)(nil)

// A forecaster expects the next commit: it sees the blocks of root trees that are written, and has
// the forecast that was made of the commit that they belong to.
type forecaster struct {
	interp.Forecasts[*forecast]
	roots     pendingRoots
	lastCount uint64 // roots.count when a commit was last forecast
	writes    uint64 // how many writes changed something other than data
}

// Forecast expects a commit if a root of the root tree was written since the last one. Of a file
// system on several devices, whose superblocks differ, it expects none.
func (f *FS) Forecast() interp.Forecast {
	base := f.base
	if base == nil || base.unsound || len(base.devs.list) != 1 || base.devs.list[0].id == 0 {
		return nil
	}
	// Neither state is read through the write under observation, which goes elsewhere.
	if fc := f.forecasts.expect(base, f.comparer.disk.Disk, f.comparer.limits); fc != nil {
		return fc
	}
	return nil
}

// expect makes a forecast of the commit whose root tree was seen, if there is one.
func (f *forecaster) expect(base *state, disk interp.Disk, limits interp.Limits) *forecast {
	if f.roots.root.generation <= base.sb.Generation() || f.roots.count == f.lastCount {
		return nil
	}
	f.lastCount = f.roots.count
	f.Drop()
	b := *base.sb.Bytes()
	fc := &forecast{base: base, baseSB: base.sb.Bytes(), old: *base, sb: ondisk.NewSuperblock(&b),
		at: base.devs.list[0].start + ondisk.SuperOffset, writes: f.writes, names: change.NewNames(),
		Foresight: interp.NewForesight(limits)}
	fc.old.disk, fc.old.stopped, fc.old.roots = disk, &fc.stopped, make(map[treeKey]treeRoot)
	fc.predictSuper(f.roots)
	f.Expect(fc)
	return fc
}

// expectGeneration drops the forecast if a superblock is not of its generation: what comes instead
// may need its memory.
func (f *forecaster) expectGeneration(now ondisk.Superblock) {
	if fc := f.Next(); fc != nil && (now.Magic() != ondisk.SuperMagic || now.Generation() != fc.sb.Generation()) {
		f.Drop()
	}
}

// expect sets what a commit changes in the superblock (update_super_roots).
func (fc *forecast) predictSuper(c pendingRoots) {
	b, old := fc.sb.Bytes(), fc.base.sb
	set := func(off int, n uint64) { binary.LittleEndian.PutUint64(b[off:], n) }
	set(ondisk.SuperGenerationAt, c.root.generation)
	set(ondisk.SuperRootAt, c.root.logical)
	b[ondisk.SuperRootLevelAt] = c.root.level
	if c.chunkRoot.generation > old.Generation() {
		set(ondisk.SuperChunkRootAt, c.chunkRoot.logical)
		set(ondisk.SuperChunkRootGenerationAt, c.chunkRoot.generation)
		b[ondisk.SuperChunkRootLevelAt] = c.chunkRoot.level
	}
	set(ondisk.SuperLogRootAt, 0)
	b[ondisk.SuperLogRootLevelAt] = 0
	if old.UUIDTreeGeneration() == 0 {
		// The first mount after mkfs: the kernel reads the tree of UUIDs (btrfs_check_uuid_tree),
		// and adds the flag of nodes that are larger than its pages, which most often have 4 KiB
		// (open_ctree).
		set(ondisk.SuperUUIDTreeGenerationAt, c.root.generation)
		if old.NodeSize() > 4096 {
			set(ondisk.SuperIncompatFlagsAt, old.Incompat()|ondisk.IncompatBigMetadata)
		}
	}
	if fc.sb.CacheGeneration() == old.Generation() {
		set(ondisk.SuperCacheGenerationAt, c.root.generation)
	}
	if fc.sb.UUIDTreeGeneration() == old.Generation() {
		set(ondisk.SuperUUIDTreeGenerationAt, c.root.generation)
	}
}

// Stop makes Prepare, and whatever reads the View, end soon.
func (fc *forecast) Stop() { fc.stopped.Store(true) }

// Prepare finds the difference.
func (fc *forecast) Prepare() (interp.Part, bool) {
	defer fc.Prepared()
	s, d, err := comparison{base: &fc.old, sb: fc.sb, at: fc.at, disk: fc.old.disk, stopped: &fc.stopped,
		devs: fc.old.devs, cache: fc.old.cache, names: fc.names, memory: fc.Memory, superLater: true}.run()
	if err != nil || d.failed() {
		return interp.Part{}, false
	}
	if !fc.complete(s, d) {
		return interp.Part{}, false
	}
	fc.ok, fc.now, fc.diff, fc.view = true, s, d, newView(s, fc.names)
	return interp.Part{Txn: d.out.txn, View: fc.view}, true
}

// superRecords is how many records changes of the superblock can make.
var superRecords = 1 + len(ondisk.SuperLayout.Fields)

// complete sets what follows in the superblock from what changed in the trees: the bytes in use,
// and what of the device is. Then its own records, which are the first, are known. ok is false if
// that cannot be told.
func (fc *forecast) complete(s *state, d *diff) (ok bool) {
	binary.LittleEndian.PutUint64(fc.sb.Bytes()[ondisk.SuperBytesUsedAt:], fc.sb.BytesUsed()+d.used)
	k := ondisk.Key{ObjectID: ondisk.DevItemsID, Type: ondisk.DevItemKey, Offset: fc.sb.DevItem().DevID()}
	p, found, err := s.seek(ondisk.ChunkTreeID, s.chunkRoot(), k)
	if err != nil || !found || p.key() != k {
		return false
	}
	item := p.item()
	data := item.data()
	if data.Len() != ondisk.DevItemSize {
		return false
	}
	// total_bytes and bytes_used, which stand side by side
	const from, to = ondisk.DevItemTotalBytesAt, ondisk.DevItemIOAlignAt
	copy(fc.sb.Bytes()[ondisk.SuperDevItemAt+from:ondisk.SuperDevItemAt+to], data.Bytes()[from:to])

	super := newRecorder(&change.Txn{Schema: ondisk.Schema, Names: fc.names}, s.itemContext())
	super.oldDec.ctx.where = fc.base.chunks
	if err := super.super(&fc.old.sb, &fc.sb); err != nil || len(super.txn.Records) > superRecords {
		return false
	}
	txn := d.out.txn
	txn.Records = txn.Records[superRecords-len(super.txn.Records):]
	copy(txn.Records, super.txn.Records)
	return true
}

// foreseen returns the forecast of a commit if it holds for this superblock, once it is prepared;
// else nil. There is none afterwards. Its memory is given back when the write has been settled.
func (f *forecaster) matching(base *state, sb ondisk.Superblock, order *unflushed) *forecast {
	fc := f.Next()
	if fc == nil {
		return nil
	}
	if fc.base != base || fc.baseSB != base.sb.Bytes() || fc.writes != f.writes ||
		fc.sb.Generation() != sb.Generation() || fc.sb.Root() != sb.Root() || len(order.ranges()) > 0 {
		f.Drop()
		return nil
	}
	if fc.Wait(); !fc.ok || !sameState(fc.sb, sb) {
		f.Drop()
		return nil
	}
	f.ComesTrue()
	return fc
}

// sameState reports whether two superblocks define the same state: all is the same but the
// checksum, the address, and the roots of earlier commits, which nothing is read from.
func sameState(s, o ondisk.Superblock) bool {
	a, b := s.Bytes(), o.Bytes()
	same := func(from, to int) bool { return bytes.Equal(a[from:to], b[from:to]) }
	const behindBytenr, behindRoots = ondisk.SuperBytenrAt + 8, ondisk.SuperSuperRootsAt + ondisk.BackupRoots*ondisk.RootBackupSize
	return same(ondisk.CsumArea, ondisk.SuperBytenrAt) && same(behindBytenr, ondisk.SuperSuperRootsAt) && same(behindRoots, ondisk.SuperSize)
}

// settled is the state of a forecast that came true, for those who follow the file system.
func (fc *forecast) settled(d interp.Disk, sb ondisk.Superblock) *state {
	s := *fc.now // the View may still be read
	s.sb, s.roots = sb, make(map[treeKey]treeRoot)
	s.disk, s.stopped = d, nil
	return &s
}
