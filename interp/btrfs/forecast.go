package btrfs

import (
	"bytes"
	"encoding/binary"
	"sync/atomic"

	"fsward/change"
	"fsward/interp"
	"fsward/interp/btrfs/ondisk"
)

// pendingRoots are the roots that the next superblock is expected to lead to, as far as the guest
// has written them. Btrfs writes all trees of a transaction, flushes, and then writes the
// superblock (btrfs_write_and_wait_transaction, write_all_supers).
type pendingRoots struct {
	root, chunkRoot pointer // of the highest generation seen; logical is 0 if none was seen
	count           uint64  // blocks of root trees seen
}

// note examines a written block, which is at least as long as a header. The block of the highest
// level is the root of its tree. A block that changed after it had been written is written again in
// another place, and the later one counts.
func (c *pendingRoots) note(b []byte) {
	p := pointer{
		logical:    binary.LittleEndian.Uint64(b[ondisk.HeaderBytenrAt:]),
		generation: binary.LittleEndian.Uint64(b[ondisk.HeaderGenerationAt:]),
		level:      b[ondisk.HeaderLevelAt],
	}
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

// A forecast is the difference that the next commit is expected to make, computed while the guest
// waits for its flush. It comes true if the expected superblock arrives and the guest has not
// written metadata meanwhile: then it equals the difference that the superblock would give.
// Otherwise it is dropped. See docs/decisions/0021.
type forecast struct {
	interp.Foresight
	base    *state
	baseSB  *[ondisk.SuperSize]byte // of base; a log commit replaces the superblock of a base
	old     state                   // base, with its own reader
	sb      ondisk.Superblock       // expected
	at      uint64                  // device address of sb
	writes  uint64                  // FS.writes when the forecast was made
	names   *change.Names
	work    *change.Work
	stopped atomic.Bool

	// Valid once the forecast is prepared, if ok or refused is set.
	ok      bool
	refused bool // the expected commit is to be refused, whatever follows from its trees; no view
	now     *state
	diff    *diff
	view    *view
}

var _ interp.Forecaster = (*FS)(nil)

// A forecaster makes forecasts of the next commit. It watches the written blocks of root trees, and
// holds the forecast of the commit that they belong to.
type forecaster struct {
	interp.Forecasts[*forecast]
	roots     pendingRoots
	lastCount uint64 // roots.count when a commit was last forecast
	writes    uint64 // number of writes that changed anything but data
}

// Forecast returns a forecast if the guest has written a root of the root tree since the last
// commit, or nil. It returns nil while a device is replaced. Of several devices, the one that had
// the superblock of the last commit first is expected to get the next one first, since
// write_all_supers goes through them in the same order.
func (f *FS) Forecast() interp.Forecast {
	base := f.base
	if base == nil || base.unsound || base.devs.find(0) != nil {
		return nil
	}
	first := base.devs.find(base.sb.DevItem().DevID())
	if first == nil {
		return nil
	}
	// The write under observation touches neither state, so both are read without the overlay.
	at := first.start + ondisk.SuperOffset
	if fc := f.forecasts.expect(base, at, f.comparer.disk.Disk, f.comparer.limits); fc != nil {
		return fc
	}
	return nil
}

// expect makes a forecast of the commit of the pending roots, whose superblock comes to a device
// address. It returns nil if there is no such commit, or a forecast was already made with these
// roots.
func (f *forecaster) expect(
	base *state, at uint64, disk interp.Disk, limits interp.Limits,
) *forecast {
	if f.roots.root.generation <= base.sb.Generation() || f.roots.count == f.lastCount {
		return nil
	}
	f.lastCount = f.roots.count
	f.Drop()
	b := *base.sb.Bytes()
	fc := &forecast{base: base, baseSB: base.sb.Bytes(), old: *base, sb: ondisk.NewSuperblock(&b),
		at: at, writes: f.writes, names: change.NewNames(), work: limits.Work.Begin(),
		Foresight: interp.NewForesight(limits)}
	fc.old.disk, fc.old.stopped, fc.old.roots = disk, &fc.stopped, make(map[treeKey]treeRoot)
	fc.predictSuper(f.roots)
	f.Expect(fc)
	return fc
}

// expectGeneration drops the forecast if a superblock has another generation. The actual commit may
// need the memory of the forecast.
func (f *forecaster) expectGeneration(now ondisk.Superblock) {
	fc := f.Next()
	if fc == nil {
		return
	}
	if now.Magic() != ondisk.SuperMagic || now.Generation() != fc.sb.Generation() {
		f.Drop()
	}
}

// predictSuper sets the members of the superblock that a commit changes (update_super_roots).
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
		// In the first mount after mkfs, the kernel checks the uuid tree (btrfs_check_uuid_tree). It
		// also sets the flag for nodes larger than a page, which usually has 4 KiB (open_ctree).
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

// Stop makes Prepare and all reads through the View end soon.
func (fc *forecast) Stop() { fc.stopped.Store(true) }

// Prepare computes the difference. ok is false if the expected commit is not sound, or not known in
// full.
func (fc *forecast) Prepare() (interp.Part, bool) {
	defer fc.Prepared()
	defer func() {
		if !fc.ok {
			fc.work.End()
		}
	}()
	s, d, err := comparison{
		base: &fc.old, sb: fc.sb, at: fc.at, disk: fc.old.disk, stopped: &fc.stopped,
		devs: fc.old.devs, cache: fc.old.cache, names: fc.names, memory: fc.Memory,
		work: fc.work, superLater: true,
	}.run()
	if err != nil {
		return interp.Part{}, false
	}
	if d.failed() {
		if fc.refused = d.refuses(); fc.refused {
			d.out = nil // the records, as many as the memory held
			fc.now, fc.diff = s, d
		}
		return interp.Part{}, false
	}
	if !fc.complete(s, d) {
		return interp.Part{}, false
	}
	fc.ok, fc.now, fc.diff, fc.view = true, s, d, newView(s, fc.names, fc.work)
	return interp.Part{Txn: d.out.txn, View: fc.view}, true
}

// Discard frees what Prepare found. Whoever holds the transaction holds no records.
func (fc *forecast) Discard() {
	if fc.ok {
		fc.diff.out.txn.Records = nil
	}
	fc.now, fc.diff, fc.view = nil, nil, nil
}

// superRecords bounds the records that a change of the superblock makes.
var superRecords = 1 + len(ondisk.SuperLayout.Fields)

// complete sets the members of the superblock that follow from the changes of the trees: the bytes
// in use, in all and on the device. It then writes the records of the superblock, which come first.
// ok is false if the device item cannot be read.
func (fc *forecast) complete(s *state, d *diff) (ok bool) {
	b := fc.sb.Bytes()
	binary.LittleEndian.PutUint64(b[ondisk.SuperBytesUsedAt:], fc.sb.BytesUsed()+d.used)
	id := fc.sb.DevItem().DevID()
	k := ondisk.Key{ObjectID: ondisk.DevItemsID, Type: ondisk.DevItemKey, Offset: id}
	p, found, err := s.seek(ondisk.ChunkTreeID, s.chunkRoot(), k)
	if err != nil || !found || p.key() != k {
		return false
	}
	item := p.item()
	data := item.data()
	if data.Len() != ondisk.DevItemSize {
		return false
	}
	// Copy total_bytes and bytes_used, which are adjacent.
	const from, to = ondisk.DevItemTotalBytesAt, ondisk.DevItemIOAlignAt
	copy(b[ondisk.SuperDevItemAt+from:ondisk.SuperDevItemAt+to], data.Bytes()[from:to])

	super := newRecorder(&change.Txn{Schema: ondisk.Schema, Names: fc.names}, s.itemContext())
	super.oldDec.ctx.where = fc.base.chunks
	err = super.super(&fc.old.sb, &fc.sb)
	if err != nil || len(super.txn.Records) > superRecords {
		return false
	}
	txn := d.out.txn
	txn.Records = txn.Records[superRecords-len(super.txn.Records):]
	copy(txn.Records, super.txn.Records)
	return true
}

// matching returns the forecast if it comes true with a superblock, or nil. It waits until the
// forecast is prepared. The forecaster has no forecast afterwards. The memory of the forecast is
// returned once the write is settled.
func (f *forecaster) matching(base *state, sb ondisk.Superblock, order *unflushed) *forecast {
	fc := f.Next()
	if fc == nil {
		return nil
	}
	sameBase := fc.base == base && fc.baseSB == base.sb.Bytes() && fc.writes == f.writes
	sameRoot := fc.sb.Generation() == sb.Generation() && fc.sb.Root() == sb.Root()
	if !sameBase || !sameRoot || len(order.ranges()) > 0 {
		f.Drop()
		return nil
	}
	if fc.Wait(); !fc.isOf(sb) {
		f.Drop()
		return nil
	}
	f.ComesTrue()
	return fc
}

// isOf reports whether the forecast is of the state that a superblock defines. If the trees are to
// be refused, the members that complete would have set do not matter.
func (fc *forecast) isOf(sb ondisk.Superblock) bool {
	if !fc.refused {
		return fc.ok && sameState(fc.sb, sb)
	}
	b := *sb.Bytes()
	const used, sizes = ondisk.SuperBytesUsedAt, ondisk.SuperDevItemAt + ondisk.DevItemTotalBytesAt
	const sizesEnd = ondisk.SuperDevItemAt + ondisk.DevItemIOAlignAt
	copy(b[used:used+8], fc.sb.Bytes()[used:])
	copy(b[sizes:sizesEnd], fc.sb.Bytes()[sizes:])
	return sameState(fc.sb, ondisk.NewSuperblock(&b))
}

// sameState reports whether two superblocks define the same state. It ignores the checksum, the
// address, and the roots of earlier commits, which are never followed.
func sameState(s, o ondisk.Superblock) bool {
	const (
		afterBytenr = ondisk.SuperFlagsAt
		afterRoots  = ondisk.SuperSuperRootsAt + ondisk.BackupRoots*ondisk.RootBackupSize
	)
	a, b := s.Bytes(), o.Bytes()
	same := func(from, to int) bool { return bytes.Equal(a[from:to], b[from:to]) }
	return same(ondisk.CsumArea, ondisk.SuperBytenrAt) &&
		same(afterBytenr, ondisk.SuperSuperRootsAt) &&
		same(afterRoots, ondisk.SuperSize)
}

// settled returns the state of a forecast that came true, to be followed from now on.
func (fc *forecast) settled(d interp.Disk, sb ondisk.Superblock) *state {
	s := *fc.now // the View may still be read
	s.sb, s.roots = sb, make(map[treeKey]treeRoot)
	s.disk, s.stopped = d, nil
	return &s
}
