// Package ext3 follows an ext3 file system from the writes that its guest makes: it finds the
// commits of its journal (jbd2), checks the structure of the committed blocks, and makes the change
// records.
//
// A commit is the write of a commit block at the end of the running transaction in the log. The
// change is the difference between the file system with and without that transaction. Blocks of
// earlier transactions count as committed, whether or not they have been written to their places.
//
// Start with FS.Observe in fs.go, which judges a write, and pendingwrite.go, which holds the
// changes that a write makes when it lands. diff.go shows how two states are compared. The on-disk
// format is in interp/ext3/ondisk.
package ext3

import (
	"io"

	"fsward/change"
	"fsward/interp"
	"fsward/interp/ext3/ondisk"
)

// FS is the Interpreter of one ext3 file system.
type FS struct {
	disk    interp.Disk
	geo     *ondisk.Geometry // nil: the superblock is gone
	m       *Mounted         // nil while the file system is not mounted
	names   *change.Names
	pending pendingWrite // what the write last observed changes in the other fields once it lands
	order   order
	data    dataOrder
	tail    logTail
	// ordered: the guest mounts with data=ordered (see ExpectOrdered).
	ordered bool
	failed  error // the device could not be read when a write landed
	// loose is set if a tool, such as a repair program, wrote to the unmounted file system.
	loose  bool
	memory *interp.MemoryBudget
	limits interp.Limits
	most   int // bound on roles; 0: none

	logged    bool // the log was written since the last commit or the last forecast
	forecasts interp.Forecasts[*forecast]
}

// New attaches to a disk. If the file system needs recovery or is in use, New reads it together
// with the committed transactions of its journal. If it is marked clean, the mount reads it. The
// error is interp.ErrNotFound, *interp.UnsupportedError, *interp.CorruptError, or that of a read.
func New(d interp.Disk) (*FS, error) { return NewWithin(d, interp.Limits{}) }

// NewWithin is New with bounds on memory.
func NewWithin(d interp.Disk, limits interp.Limits) (*FS, error) {
	sb, err := readSuper(d)
	if err != nil {
		return nil, err
	}
	f := &FS{disk: d, names: change.NewNames(), memory: limits.NewMemoryBudget(), limits: limits,
		most: maxRoles(limits)}
	if f.geo, err = ondisk.ParseGeometry(sb, d.Size()); err != nil {
		return nil, err
	}
	if !ondisk.NeedsRecovery(sb) {
		return f, nil
	}
	f.m, err = f.attach(d, d.Size())
	return f, err
}

func (f *FS) attach(dev io.ReaderAt, size uint64) (*Mounted, error) {
	m, err := Mount(dev, size)
	if err != nil {
		return nil, err
	}
	m.most = f.most
	m.State.kept = newKeptBlocks(maxKept(f.limits), m.Geo)
	return m, m.ReadRoles()
}

// FS is "ext3", or "" once the superblock has been erased.
func (f *FS) FS() string {
	if f.geo == nil {
		return ""
	}
	return schema.FS
}

// Schema names the numbers in the records. It is nil once the superblock has been erased.
func (f *FS) Schema() *change.Schema {
	if f.geo == nil {
		return nil
	}
	return schema
}

// Observe judges a write before it is done.
func (f *FS) Observe(w interp.Write) (obs interp.Observation) {
	f.pending = pendingWrite{}
	f.release()
	if f.geo == nil || w.Len == 0 {
		return obs
	}
	if f.failed != nil {
		obs.Unknown = f.failed
		return obs
	}
	m := f.m
	if touches(w, ondisk.SuperOff, ondisk.SuperLen) {
		f.observeSuper(w, &obs)
	}
	if m == nil {
		f.pending.unmounted = true
		return obs
	}
	f.observeMounted(w, &obs)
	return obs
}

// observeMounted judges the parts of a write that go to places of metadata or to the journal. The
// state follows the write if the write is performed, also if there are violations.
func (f *FS) observeMounted(w interp.Write, obs *interp.Observation) {
	m, p := f.m, &f.pending
	if bs := uint64(m.Geo.BlockSize); !w.Discard {
		p.filled = writtenRun{uint32(w.Off / bs), uint32((w.Off+w.Len-1)/bs - w.Off/bs + 1), w.Seq}
	}
	judge := p.super == nil && len(obs.Violations) == 0 && obs.Unknown == nil
	p.placed, p.unread = m.observeCheckpoint(w, PendingDevice{f.disk, w}, judge && !m.Log.recovering,
		obs)
	if p.unread != nil && judge {
		obs.Unknown = p.unread
	}
	p.stale = m.State.stale(w, p.placed)
	if judge && len(obs.Violations) == 0 && obs.Unknown == nil {
		f.observeJournal(w, obs)
	}
	if m.Log.contains(w) {
		p.logged = w
	}
	if obs.Point == interp.NoPoint {
		if p.logged.Len > 0 {
			f.order.last = max(f.order.last, w.Seq)
			f.logged = true
		}
		f.meanwhile(w)
	}
}

// Settle ends the write last observed. written reports whether it is on the device.
func (f *FS) Settle(written bool) {
	p := f.pending
	f.pending = pendingWrite{} // its bytes belong to the transport
	f.release()
	if !written {
		p.refused(f)
	} else if err := p.landed(f); err != nil {
		f.failed = err
	}
}

// release returns the memory of the write observed before.
func (f *FS) release() {
	f.memory.Release()
	f.forecasts.Settled()
}

// Flushed says that the writes up to seq are durable.
func (f *FS) Flushed(_ int, seq uint64) {
	f.order.flush(seq)
	f.data.flush(seq)
}

var _ interp.Interpreter = (*FS)(nil)

// Schema names the numbers in the records of ext3.
func Schema() *change.Schema { return schema }

var schema = ondisk.Schema()
