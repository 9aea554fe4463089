package btrfs

import (
	"errors"
	"fmt"

	"fsward/change"
	"fsward/interp"
)

// FS follows one Btrfs file system through the writes to its disk. It implements interp.Interpreter.
type FS struct {
	disk *overlay
	base *state // as of the last commit on disk; nil while there is no file system

	settle func(written bool) // what Settle does besides forgetting the write
	judged *judgement         // the last commit that was judged
	names  *change.Names
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

// New attaches to a disk with a Btrfs on it and takes what its superblock says as the baseline. The
// error is interp.ErrNotFound if there is none, *interp.UnsupportedError for a feature that is not
// handled, *interp.CorruptError if it cannot be read as a baseline.
func New(d interp.Disk) (*FS, error) {
	f := &FS{disk: &overlay{Disk: d}, names: change.NewNames()}
	s, err := attach(f.disk)
	if err != nil {
		return nil, err
	}
	f.base = s
	return f, nil
}

// attach reads the baseline from the primary superblock.
func attach(d interp.Disk) (*state, error) {
	b, err := readSuper(d, superOffset)
	if err != nil {
		return nil, interp.ErrNotFound // too small, or not readable there
	}
	if magicOf(b) != superMagic {
		return nil, interp.ErrNotFound
	}
	sb, err := parseSuper(b, superOffset)
	if err != nil {
		return nil, baseline(err)
	}
	s, err := loadState(d, sb, superOffset, newNodeCache(sb.nodeSize(), sb.sectorSize()))
	if err != nil {
		return nil, baseline(err)
	}
	return s, nil
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
	f.disk.pending, f.settle = &w, nil
	var obs interp.Observation
	// A mirror may lie inside a chunk of metadata, where no block is allocated.
	if j := f.judged; j != nil && !j.stale && !superAlone(w) && j.chunks.holdsMetadata(w.Off, w.Len) {
		j.stale = true
	}
	if w.Len == 0 {
		return obs
	}
	for _, at := range superOffsets {
		if at+superSize <= f.disk.Size() && overlap(w.Off, w.Len, at, superSize) {
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

// superAlone tells whether a write is of a superblock and nothing else.
func superAlone(w interp.Write) bool {
	for _, at := range superOffsets {
		if w.Off >= at && w.Off < at+superSize && w.Len <= at+superSize-w.Off {
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
	if f.settle != nil {
		f.settle(written)
		f.settle = nil
	}
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
	if sb.fsid() != f.base.sb.fsid() {
		if at == superOffset {
			f.replace(sb, obs)
		}
		return
	}
	f.follow(at, sb, obs)
}

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
	if at != superOffset {
		return // a mirror: the primary is what counts
	}
	obs.Note = "the superblock of the btrfs file system is erased"
	if magicOf(now) == mkfsMagic {
		obs.Note = "a new btrfs file system is being made"
	}
	f.settle = func(written bool) {
		if written {
			f.base, f.judged = nil, nil
		}
	}
}

// appear takes up a file system whose primary superblock shows up where there was none. What mkfs wrote
// may still be on its way, so its trees are judged with the first commit.
func (f *FS) appear(at uint64, now *[superSize]byte, obs *interp.Observation) {
	if at != superOffset || magicOf(now) != superMagic {
		return
	}
	sb, err := parseSuper(now, at)
	if err != nil {
		f.refuseSuper(err, obs)
		return
	}
	f.replace(sb, obs)
}

// replace takes up another file system. If its trees are all there and sound it is the new baseline;
// else mkfs has not written all yet, and the next commit is judged as a whole image.
func (f *FS) replace(sb superblock, obs *interp.Observation) {
	cache := newNodeCache(sb.nodeSize(), sb.sectorSize())
	s, d, err := f.compare(nil, sb, superOffset, cache)
	if err == nil {
		err = d.err()
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
	obs.Generation = sb.generation()
	if j := f.judged; j != nil && j.settled && !j.stale && j.identity == sb.identity() {
		f.again(j, at, obs)
		return
	}
	switch {
	case sb.generation() < old.generation():
		obs.Violations = append(obs.Violations, violatedAt(superRule, at, "generation goes back from %d to %d", old.generation(), sb.generation()).v)
	case sb.generation() > old.generation():
		f.commit(at, sb, obs)
	case sb.identity() == old.identity():
		// a copy that is written again
	case !sb.sameTrees(old):
		obs.Violations = append(obs.Violations, violatedAt(superRule, at, "the roots of the trees changed and the generation stayed %d", old.generation()).v)
	default:
		if sb.logRoot() != old.logRoot() {
			obs.Point = interp.LogPoint
		}
		f.settle = func(written bool) {
			if written {
				f.base.sb = sb
			}
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
func (f *FS) commit(at uint64, sb superblock, obs *interp.Observation) {
	obs.Point = interp.CommitPoint
	base := f.base
	if base.unsound {
		base = nil
	}
	s, d, err := f.compare(base, sb, at, f.base.cache)
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
	}
	j := &judgement{identity: sb.identity(), chunks: f.base.chunks, generation: sb.generation(), violations: obs.Violations, unknown: obs.Unknown}
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
			f.letThrough(sb)
			return
		}
		f.base = s
	}
}

// letThrough goes on after a commit that was not judged sound, as good as it can: with what the new
// superblock says if that can be read, else with the chunks as they were.
func (f *FS) letThrough(sb superblock) {
	s, err := loadState(f.disk, sb, superOffset, f.base.cache)
	if err != nil {
		s = f.base
		s.sb = sb
	}
	s.unsound = true
	f.base = s
}

// compare makes the state of a superblock and its difference from a base; nil compares with nothing.
func (f *FS) compare(base *state, sb superblock, at uint64, cache *nodeCache) (*state, *diff, error) {
	s, err := bootstrap(f.disk, sb, at, cache)
	if err != nil {
		return nil, nil, err
	}
	f.names.Reset()
	txn := &change.Txn{Schema: schema, Generation: sb.generation(), Names: f.names}
	d := &diff{old: base, new: s, budget: newBudget(), out: newRecorder(txn, s.itemContext())}
	// While the chunk tree is read, only the chunks of the superblock are known.
	d.out.dec.ctx.chunks = nil
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
