package ext3

import (
	"errors"
	"io"
	"sync"
	"sync/atomic"

	"fsward/change"
	"fsward/interp"
	"fsward/interp/ext3/ondisk"
)

// A forecast holds the changes of the running transaction, found while the guest still waits for
// the flush before its commit block. jbd2 writes the descriptors and copies, waits for them, and
// submits the commit block with a flush (journal_submit_commit_record); at the disk this arrives as
// a flush and then a write. The verdict is used if the commit block is written at the end of the
// transaction and no block that the forecast read was written in between. See docs/decisions/0021.
type forecast struct {
	interp.Foresight
	m         *Mounted
	journal   Journal // copied from m
	head, seq uint32
	old       *State // copied from m
	dev       watched
	size      uint64 // size of the device, bytes
	names     *change.Names
	work      *change.Work

	// The result, valid once Prepare has ended and if ok is set. It may be that the transaction is to
	// be refused.
	ok  bool
	cmp comparison
}

var _ interp.Forecaster = (*FS)(nil)

// Forecast returns a forecast if the guest has written to the log since the last commit.
func (f *FS) Forecast() interp.Forecast {
	m := f.m
	if m == nil || m.Log.idle || f.failed != nil || !f.logged {
		return nil
	}
	f.logged = false
	f.forecasts.Drop()
	dev := watched{f.disk, newWatch(m.Geo.BlockSize), f.tail.blocks}
	f.tail = logTail{}
	fc := &forecast{m: m, journal: m.Log.Journal, head: m.Log.head, seq: m.Log.nextSeq,
		old: m.State.lent(dev), dev: dev, size: f.disk.Size(),
		names: change.NewNames(), work: f.limits.Work.Begin(), Foresight: interp.NewForesight(f.limits)}
	f.forecasts.Expect(fc)
	return fc
}

// Stop ends Prepare and all reads through the View soon.
func (fc *forecast) Stop() { fc.dev.watch.stop() }

// Prepare reads the transaction up to the place of its commit block, and compares.
func (fc *forecast) Prepare() (interp.Part, bool) {
	defer fc.Prepared()
	defer func() {
		if !fc.ok {
			fc.work.End()
		}
	}()
	t, last, err := fc.journal.collect(fc.dev, fc.head, fc.seq)
	if err != nil || t.commit == t.start || ondisk.OfTransaction(last, fc.seq) {
		return interp.Part{}, false
	}
	block := make([]byte, fc.journal.Geo.BlockSize) // its time and checksum do not matter
	head := ondisk.JournalHeaderOf(block)
	head.SetMagic(ondisk.JournalMagic)
	head.SetBlocktype(ondisk.TypeCommit)
	head.SetSequence(fc.seq)
	w := interp.Write{Off: fc.journal.Geo.Addr(fc.journal.Block(t.commit)), Len: uint64(len(block)),
		Data: block}
	cmp := fc.m.compare(t, fc.old, PendingDevice{fc.dev, w}, fc.size, fc.names, fc.Memory,
		fc.work, false)
	var obs interp.Observation
	cmp.conclude(&obs)
	if fc.ok = obs.Txn != nil || obs.Unknown == nil && len(obs.Violations) > 0; fc.ok {
		fc.cmp = cmp // otherwise its records must not outlive their memory
	}
	return interp.Part{Txn: obs.Txn, View: obs.View}, obs.Txn != nil
}

// Discard frees what Prepare found. Whoever holds the transaction holds no records.
func (fc *forecast) Discard() {
	if fc.ok && fc.cmp.delta != nil {
		fc.cmp.delta.txn.Records = nil
	}
	fc.cmp = comparison{}
}

// foreseen waits for the forecast and returns it if the write is the commit block that it expects,
// else nil. It ends the forecast in either case. Settle returns the memory.
func (f *FS) foreseen(w interp.Write) *forecast {
	fc, m := f.forecasts.Next(), f.m
	if fc == nil {
		return nil
	}
	geo := m.Geo
	place, inside := m.Log.Logical(uint32(w.Off / uint64(geo.BlockSize)))
	if fc.m != m || m.Log.idle || fc.head != m.Log.head || fc.seq != m.Log.nextSeq || !inside ||
		w.Off%uint64(geo.BlockSize) != 0 ||
		w.Len != uint64(geo.BlockSize) || w.Data == nil || !ondisk.IsCommit(w.Data, fc.seq) {
		f.forecasts.Drop()
		return nil
	}
	if fc.Wait(); !fc.ok || place != fc.cmp.t.commit || !fc.journal.CommitFits(w.Data, fc.cmp.t.sum) ||
		!fc.dev.watch.keep() {
		f.forecasts.Drop()
		return nil
	}
	f.forecasts.ComesTrue()
	return fc
}

// meanwhile drops the forecast if a write that is no commit invalidates it.
func (f *FS) meanwhile(w interp.Write) {
	if fc := f.forecasts.Next(); fc != nil {
		super := fc.journal.Geo.Addr(fc.journal.superBlock())
		if fc.m != f.m || touches(w, super, uint64(fc.journal.Geo.BlockSize)) || !fc.dev.watch.writes(w) {
			f.forecasts.Drop()
		}
	}
}

// maxWatched bounds the blocks that a forecast notes. A transaction can be as long as a journal,
// and each of its blocks is read from there and from its place.
const maxWatched = 1 << 17

var (
	errStopped = errors.New("ext3: the forecast was stopped")
	errSpoiled = errors.New("ext3: a block that the forecast read was overwritten," +
		" or it read too many blocks")
)

// A watch notes the blocks that a forecast has read and those that were written since the forecast
// began.
type watch struct {
	blockSize uint64

	stopped       atomic.Bool
	mu            sync.Mutex
	read, written map[uint64]bool
	spoiled       bool // a block was both read and written, or there are too many
	kept          bool // the forecast came true: further reads see the present state
}

func newWatch(blockSize uint32) *watch {
	return &watch{blockSize: uint64(blockSize), read: make(map[uint64]bool),
		written: make(map[uint64]bool)}
}

func (w *watch) stop() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.stopped.Store(!w.kept)
}

// keep reports whether no block that was read has been written. In this case the forecast cannot be
// stopped any more.
func (w *watch) keep() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.kept = !w.spoiled && !w.stopped.Load()
	return w.kept
}

// note adds the blocks of a range to one set and looks for them in the other.
func (w *watch) note(off, n uint64, to, among map[uint64]bool) error {
	switch {
	case w.kept:
		return nil
	case w.stopped.Load():
		return errStopped
	case n == 0:
		return nil
	}
	for b, last := off/w.blockSize, (off+n-1)/w.blockSize; b <= last && !w.spoiled; b++ {
		to[b] = true
		w.spoiled = among[b] || len(to) > maxWatched
	}
	if w.spoiled {
		return errSpoiled
	}
	return nil
}

// reads notes the blocks of a read. A nil watch notes nothing.
func (w *watch) reads(off, n uint64) error {
	if w == nil {
		return nil
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.note(off, n, w.read, w.written)
}

// writes notes a write before it is done, and reports whether it changes none of the blocks that
// were read.
func (w *watch) writes(write interp.Write) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.note(write.Off, write.Len, w.written, w.read) == nil
}

// watched is a device whose reads are noted.
type watched struct {
	io.ReaderAt
	watch *watch
	log   map[uint32][]byte // blocks of the log in memory, by block of the file system
}

func (d watched) contents(g *ondisk.Geometry, block uint32) ([]byte, error) {
	b := d.log[block]
	if b == nil {
		return nil, nil
	}
	return b, d.watch.reads(g.Addr(block), uint64(g.BlockSize))
}

func (d watched) ReadAt(p []byte, off int64) (int, error) {
	if err := d.watch.reads(uint64(off), uint64(len(p))); err != nil {
		return 0, err
	}
	return d.ReaderAt.ReadAt(p, off)
}
