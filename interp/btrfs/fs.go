package btrfs

import (
	"errors"
	"fmt"

	"fsward/change"
	"fsward/interp"
)

// FS follows one Btrfs file system through the writes to its disks. It implements interp.Interpreter.
type FS struct {
	disk  *overlay
	sizes []uint64 // of the disks
	base  *state   // as of the last commit on disk; nil while there is no file system

	after  *devices           // once the write under observation is done, if it changes them
	settle func(written bool) // what Settle does besides forgetting the write
	judged *judgement         // the last commit that was judged
	order  unflushed          // writes of metadata that are not durable yet
	log    *logState          // what fsync wrote since; nil if there is no log or none that can be relied on
	names  *change.Names

	metadata bool // the write last observed may hold metadata
}

var _ interp.Interpreter = (*FS)(nil)

// A judgement is what was said of a superblock, for the further copies of it.
type judgement struct {
	identity   [superSize]byte
	chunks     *chunkMap // where metadata lies
	generation uint64
	violations []change.Violation
	unknown    error
	settled    bool
	written    bool // it was let through
	stale      bool // metadata was written since
}

// New attaches to the Btrfs on a disk, or to that on the first disk of an interp.Set that has one, and takes
// what its newest superblock says as the baseline. The error is interp.ErrNotFound if there is none,
// *interp.UnsupportedError for a feature that is not handled, *interp.MissingDiskError if one of its
// devices is not there, *interp.CorruptError if it cannot be read as a baseline.
func New(d interp.Disk) (*FS, error) { return NewOn(d, first(d)) }

// first returns the first disk of a Set that has a superblock of Btrfs, 0 if none has.
func first(d interp.Disk) int {
	for i := range interp.Sizes(d) {
		if Detect(interp.Sub(d, i)) {
			return i
		}
	}
	return 0
}

// NewOn is New for the file system that has a superblock on disk i of a Set.
func NewOn(d interp.Disk, i int) (*FS, error) {
	f, devs, err := open(d, i)
	if err != nil {
		return nil, err
	}
	s, err := attach(f.disk, devs)
	if err != nil {
		return nil, err
	}
	f.base = s
	// A log is left by a crash or by a guest that is running. If it cannot be read, the next mount will say
	// so; it is no baseline of ours.
	if r := f.readLog(s, s.sb, nil); len(r.faults) == 0 && r.err == nil {
		f.log = r.now
	}
	return f, nil
}

// open finds the devices of the file system that has a superblock on disk i.
func open(d interp.Disk, i int) (*FS, *devices, error) {
	f := Watch(d)
	devs, err := findDevices(d, f.sizes, i)
	if errors.Is(err, interp.ErrNotFound) {
		return nil, nil, err
	}
	if err != nil {
		return nil, nil, baseline(err)
	}
	return f, devs, nil
}

// attach reads the baseline from the newest superblock.
func attach(d interp.Disk, devs *devices) (*state, error) {
	sb, start := devs.newest()
	s, err := loadState(d, sb, start+superOffset, devs, newNodeCache(sb.nodeSize(), sb.sectorSize()))
	if err != nil {
		return nil, baseline(err)
	}
	return s, s.complete()
}

// Watch returns what follows a file system that is about to appear: the next superblock that is written is
// its. Until then, and if it is none, FS is "".
func Watch(d interp.Disk) *FS {
	return &FS{disk: &overlay{Disk: d}, sizes: interp.Sizes(d), names: change.NewNames()}
}

// Owns tells whether disk i belongs to the file system, once the write under observation is done.
func (f *FS) Owns(i int) bool {
	devs := f.after
	if devs == nil && f.base != nil {
		devs = f.base.devs
	}
	return devs != nil && devs.on(interp.Address(i, 0)) != nil
}

// FS is "btrfs", or "" while the superblock is erased.
func (f *FS) FS() string {
	if f.base == nil {
		return ""
	}
	return fsName
}

// Schema names the numbers in the records.
func (f *FS) Schema() *change.Schema {
	if f.base == nil {
		return nil
	}
	return schema
}

// Observe is shown a write before it is done.
func (f *FS) Observe(w interp.Write) interp.Observation {
	var obs interp.Observation
	f.disk.pending, f.settle, f.after, f.metadata = nil, nil, nil, false
	if f.base != nil && !f.base.unsound && !f.givesUp(&w) {
		if err := f.checkWrite(&w); err != nil {
			f.refuseSuper(err, &obs)
			f.disk.pending, f.settle = &w, func(written bool) {
				if written && f.base != nil {
					f.base.unsound = true
				}
			}
			return obs
		}
	}
	f.disk.pending = &w
	// A mirror may lie inside a chunk of metadata, where no block is allocated.
	if j := f.judged; j != nil && !j.stale && !superAlone(w) && j.chunks.holdsMetadata(w.Off, w.Len) {
		j.stale = true
	}
	if w.Len == 0 {
		return obs
	}
	disk, _ := interp.Locate(w.Off)
	for _, off := range superOffsets {
		at := interp.Address(disk, off)
		if disk < len(f.sizes) && off+superSize <= f.sizes[disk] && overlap(w.Off, w.Len, at, superSize) {
			if f.base != nil { // blocks in this write are read through it, not from the cache
				f.base.cache.forget(w.Off, w.Len)
			}
			f.superWrite(at, w, &obs)
			if obs.Point == interp.CommitPoint || len(obs.Violations) > 0 || obs.Unknown != nil {
				break
			}
		}
	}
	return obs
}

// givesUp tells whether a write takes a disk from the file system, or tries to: what it leaves of the
// primary superblock is none of ours. Then there is nothing left that needs the rest.
func (f *FS) givesUp(w *interp.Write) bool {
	disk, off := interp.Locate(w.Off)
	if !overlap(off, w.Len, superOffset, superSize) {
		return false
	}
	now, err := readSuper(&overlay{f.disk.Disk, w}, interp.Address(disk, superOffset))
	return err == nil && (magicOf(now) != superMagic || (superblock{now}).fsid() != f.base.sb.fsid())
}

// Flushed is told that writes to a disk are durable.
func (f *FS) Flushed(disk int, seq uint64) {
	f.order.flushed(interp.Address(disk, 0), interp.Address(disk+1, 0), seq)
}

// superAlone tells whether a write is of a superblock and nothing else.
func superAlone(w interp.Write) bool {
	_, off := interp.Locate(w.Off)
	for _, at := range superOffsets {
		if off >= at && off < at+superSize && w.Len <= at+superSize-off {
			return true
		}
	}
	return false
}

// Settle says what became of the write last observed.
func (f *FS) Settle(written bool) {
	w := f.disk.pending
	f.disk.pending = nil
	if w == nil {
		return
	}
	if f.base != nil {
		f.base.cache.forget(w.Off, w.Len)
	}
	if f.metadata && written && w.Seq != 0 {
		f.order.add(w.Off, w.Len, w.Seq)
	}
	if f.settle != nil {
		f.settle(written)
		f.settle = nil
	}
	f.after = nil
}

// superWrite judges what a write does to the superblock at one of its places.
func (f *FS) superWrite(at uint64, w interp.Write, obs *interp.Observation) {
	now := new([superSize]byte)
	if err := readFull(f.disk, now[:], at); err != nil {
		obs.Unknown = err
		return
	}
	if f.base == nil {
		f.appear(at, now, obs)
		return
	}
	member := f.base.devs.on(at-at%interp.DiskStride) != nil
	if !member && (magicOf(now) != superMagic || (superblock{now}).fsid() != f.base.sb.fsid()) {
		return // of a disk that has nothing to do with us
	}
	switch magicOf(now) {
	case superMagic:
	case 0, mkfsMagic:
		f.erase(at, now, obs)
		return
	default:
		if w.Discard {
			f.erase(at, now, obs)
			return
		}
		obs.Violations = append(obs.Violations, violatedAt(superRule, at, "the superblock is overwritten by something that is none (magic %q)", now[superMagicAt:superMagicAt+8]).v)
		return
	}
	sb, err := parseSuper(now, at)
	if err != nil {
		f.refuseSuper(err, obs)
		return
	}
	switch {
	case sb.rewritten():
		f.leave(at, "a tool changes its format in place; it is taken up again when that is done", obs)
		return
	case sb.fsid() != f.base.sb.fsid():
		if isPrimary(at) {
			f.leave(at, "another file system takes its place", obs)
		}
		return
	}
	f.follow(at, sb, obs)
}

// isPrimary tells whether an address is that of a disk's first superblock.
func isPrimary(at uint64) bool { return at%interp.DiskStride == superOffset }

func (f *FS) refuseSuper(err error, obs *interp.Observation) {
	if e, ok := errors.AsType[*structureError](err); ok {
		obs.Violations = append(obs.Violations, e.v)
	} else {
		obs.Unknown = err
	}
}

// erase lets a superblock go that is given up: by wipefs (the magic becomes zero and the rest stays), by
// mkfs, which writes its own magic first, or by a discard. A bug seldom writes just that.
func (f *FS) erase(at uint64, now *[superSize]byte, obs *interp.Observation) {
	var onDisk [superSize]byte
	if err := readFull(f.disk.Disk, onDisk[:], at); err != nil {
		obs.Unknown = err
		return
	}
	if magicOf(now) == 0 && *now != [superSize]byte{} {
		clear(onDisk[superMagicAt : superMagicAt+8])
		if onDisk != *now {
			obs.Violations = append(obs.Violations, violatedAt(superRule, at, "the superblock is overwritten by something that is none").v)
			return
		}
	}
	if !isPrimary(at) {
		return // a mirror: the primary is what counts
	}
	why := "its superblock is erased"
	if magicOf(now) == mkfsMagic {
		why = "a new btrfs file system is being made"
	}
	f.leave(at, why, obs)
}

// leave lets go of a disk: of a device that was removed or replaced, or that something else is made of. With
// the last one the file system is gone.
func (f *FS) leave(at uint64, why string, obs *interp.Observation) {
	start := at - at%interp.DiskStride
	id := f.base.devs.on(start).id
	f.after = f.base.devs.without(start)
	left := len(f.after.list)
	obs.Note = fmt.Sprintf("the btrfs file system on the disk is given up: %s", why)
	if left > 0 {
		obs.Note = fmt.Sprintf("device %d of the btrfs file system is given up: %s; %d remain", id, why, left)
	}
	base := *f.base
	base.devs = f.after
	if source, target := f.base.replacement(); target != nil && source.start == start {
		// A replacement ends with the erasure of what was replaced, before the commit that says so.
		moved, err := f.base.replaced(source.start, target.start)
		if err != nil {
			f.refuseSuper(err, obs)
			return
		}
		base, f.after = *moved, moved.devs
	}
	f.settle = func(written bool) {
		if !written {
			return
		}
		f.judged = nil
		if f.base = &base; left == 0 {
			f.base, f.log = nil, nil
		}
	}
}

// appear takes up a file system whose primary superblock shows up where there was none. What mkfs wrote
// may still be on its way, so its trees are judged with the first commit.
func (f *FS) appear(at uint64, now *[superSize]byte, obs *interp.Observation) {
	if !isPrimary(at) || magicOf(now) != superMagic {
		return
	}
	sb, err := parseSuper(now, at)
	if err != nil {
		f.refuseSuper(err, obs)
		return
	}
	if !sb.rewritten() {
		f.take(at, sb, obs)
	}
}

// take takes up another file system. If its trees are all there and sound it is the new baseline;
// else mkfs has not written all yet, and the next commit is judged as a whole image.
func (f *FS) take(at uint64, sb superblock, obs *interp.Observation) {
	disk, _ := interp.Locate(at)
	devs, err := findDevices(f.disk, f.sizes, disk)
	var s *state
	if err == nil {
		var d *diff
		s, d, err = f.compare(nil, sb, at, devs, newNodeCache(sb.nodeSize(), sb.sectorSize()))
		if err == nil {
			err = d.err()
		}
		if err == nil {
			err = s.complete()
		}
	}
	if unsupported, ok := errors.AsType[*interp.UnsupportedError](err); ok {
		obs.Unknown = unsupported
		return
	}
	obs.Note = fmt.Sprintf("a btrfs file system appeared, generation %d", sb.generation())
	if err != nil {
		obs.Note += "; not all of it is on the disk yet, its next commit is checked as a whole: " + err.Error()
		if s == nil {
			return
		}
		s.unsound = true
	}
	f.after = s.devs
	f.settle = func(written bool) {
		if written {
			f.base, f.judged = s, nil
		}
	}
}

// follow judges a superblock of the file system that is followed.
func (f *FS) follow(at uint64, sb superblock, obs *interp.Observation) {
	old := f.base.sb
	if err := sb.checkUnchanged(old, at); err != nil {
		f.refuseSuper(err, obs)
		return
	}
	base, err := f.join(at, sb)
	if err != nil {
		f.refuseSuper(err, obs)
		return
	}
	obs.Generation = sb.generation()
	if j := f.judged; j != nil && j.settled && !j.stale && j.identity == sb.identity() {
		f.again(j, at, obs)
		f.keep(base)
		return
	}
	switch {
	case sb.generation() < old.generation():
		obs.Violations = append(obs.Violations, violatedAt(superRule, at, "generation goes back from %d to %d", old.generation(), sb.generation()).v)
	case sb.generation() > old.generation() && sb.logRoot() != 0 && sb.logRoot() != old.logRoot():
		// A commit ends the log (btrfs_commit_transaction); tools may leave the one that is there.
		obs.Violations = append(obs.Violations, violatedAt(superRule, at, "log_root is %d in a commit, which ends the log", sb.logRoot()).v)
	case sb.generation() > old.generation():
		f.commit(base, at, sb, obs)
	case sb.identity() == old.identity():
		f.keep(base) // a copy that is written again
	case !sb.sameTrees(old):
		obs.Violations = append(obs.Violations, violatedAt(superRule, at, "the roots of the trees changed and the generation stayed %d", old.generation()).v)
	default:
		if sb.logRoot() != old.logRoot() || sb.b[200] != old.b[200] {
			f.logCommit(base, sb, obs)
			return
		}
		f.settle = func(written bool) {
			if written {
				base.sb = sb
				f.base = base
			}
		}
	}
}

// join returns the base with a superblock in the place of what its disk had before: it is as it was, unless a
// device is added or one takes the place of another. It fails if a device changes what it is.
func (f *FS) join(at uint64, sb superblock) (*state, error) {
	start := at - at%interp.DiskStride
	disk, _ := interp.Locate(at)
	known := f.base.devs.on(start)
	if known != nil && known.id == sb.devID() && known.uuid == sb.devUUID() {
		return f.base, nil
	}
	if known != nil && known.id != 0 {
		return nil, violatedAt(superRule, at, "dev_item is that of device %d (uuid %s), this is device %d (uuid %s)",
			sb.devID(), uuidText(sb.devUUID()), known.id, uuidText(known.uuid))
	}
	if source := f.base.devs.find(sb.devID()); known != nil && source != nil {
		s, err := f.base.replaced(source.start, start)
		if err == nil {
			f.after = s.devs
		}
		return s, err
	}
	devs, err := f.base.devs.with(start, f.sizes[disk], &sb)
	if err != nil {
		return nil, err
	}
	s := *f.base
	s.devs, f.after = devs, devs
	return &s, nil
}

// keep makes the base what join returned once the write is done.
func (f *FS) keep(base *state) {
	if base == f.base {
		return
	}
	f.settle = func(written bool) {
		if written {
			f.base = base
		}
	}
}

// sameTrees tells whether two superblocks lead to the same trees, apart from the log.
func (s superblock) sameTrees(o superblock) bool {
	return s.root() == o.root() && s.rootLevel() == o.rootLevel() && s.chunkRoot() == o.chunkRoot() &&
		s.chunkRootLevel() == o.chunkRootLevel() && s.chunkRootGen() == o.chunkRootGen()
}

// again answers a further copy of a superblock that was judged as the first was.
func (f *FS) again(j *judgement, at uint64, obs *interp.Observation) {
	if j.written {
		return
	}
	obs.Violations, obs.Unknown = j.violations, j.unknown
	if len(obs.Violations) == 0 && obs.Unknown == nil {
		obs.Violations = []change.Violation{violatedAt(refusedRule, at, "the commit of generation %d was refused", j.generation).v}
	}
}

// commit judges a new generation.
func (f *FS) commit(base *state, at uint64, sb superblock, obs *interp.Observation) {
	obs.Point = interp.CommitPoint
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
			obs.Unknown = describe(sb.generation(), d.unknown)
		}
	default:
		obs.Txn, obs.View = d.out.txn, newView(s, f.names)
		if err := s.complete(); err != nil && base.complete() == nil {
			obs.Note = err.Error()
		}
	}
	j := &judgement{identity: sb.identity(), chunks: base.chunks, generation: sb.generation(), violations: obs.Violations, unknown: obs.Unknown}
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
func (f *FS) compareBase(base *state, sb superblock, at uint64) (*state, *diff, error) {
	if base.unsound {
		return f.compare(nil, sb, at, base.devs, base.cache)
	}
	return f.compare(base, sb, at, base.devs, base.cache)
}

// letThrough goes on after a commit that was not judged sound, as good as it can: with what the new
// superblock says if that can be read, else with the chunks as they were.
func (f *FS) letThrough(base *state, sb superblock, at uint64) {
	s, err := loadState(f.disk, sb, at, base.devs, base.cache)
	if err != nil {
		s = base
		s.sb = sb
	}
	s.unsound = true
	f.base, f.log = s, nil
}

// compare makes the state of a superblock and its difference from a base; nil compares with nothing.
func (f *FS) compare(base *state, sb superblock, at uint64, devs *devices, cache *nodeCache) (*state, *diff, error) {
	s, err := bootstrap(f.disk, sb, at, devs, cache)
	if err != nil {
		return nil, nil, err
	}
	f.names.Reset()
	txn := &change.Txn{Schema: schema, Generation: sb.generation(), Names: f.names}
	d := &diff{old: base, new: s, budget: newBudget(), out: newRecorder(txn, s.itemContext())}
	if base != nil {
		d.unflushed = f.order.stretches()
	}
	// While the chunk tree is read, only the chunks of the superblock are known.
	d.out.dec.ctx.chunks, d.out.dec.ctx.where = nil, nil
	if base != nil {
		d.out.oldDec.ctx.where = base.chunks
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
