// Package ext3 follows an ext3 file system from the writes that its guest makes: it finds the
// commits of its journal (jbd2), checks the structure of what they hold, and says what they change.
//
// A commit is the write of a commit block where the running transaction ends in the log. What it
// changes is the difference between the file system with and without that transaction; blocks that
// earlier transactions committed count as committed, whether or not they are in their places yet.
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
	pending pendingWrite // what the write last observed changes of the rest, once it is on the device
	order   order
	data    dataOrder
	tail    logTail
	// ordered: data comes before the commit that makes it reachable.
	ordered bool
	failed  error // the device could not be read when a write landed
	// loose: something was written while the file system was not mounted, by a tool that repairs
	// it, say.
	loose  bool
	memory *interp.MemoryBudget
	limits interp.Limits
	most   int // Roles; 0: any number

	logged bool      // something was written to the log since the last commit, or since one was expected
	ahead  *forecast // the commit that is expected; nil if there is none
	came   *forecast // the commit that is observed; nil if it was not foreseen
}

// New attaches to a disk. A file system that needs recovery, or is in use, is read with what its
// Journal commits; one that is marked clean is read when it is mounted. The errors are
// interp.ErrNotFound, *interp.UnsupportedError, *interp.CorruptError, or of reading the disk.
func New(d interp.Disk) (*FS, error) { return NewWithin(d, interp.Limits{}) }

// NewWithin is New with bounds on memory.
func NewWithin(d interp.Disk, limits interp.Limits) (*FS, error) {
	sb, err := readSuper(d)
	if err != nil {
		return nil, err
	}
	f := &FS{disk: d, names: change.NewNames(), memory: limits.NewMemoryBudget(), limits: limits, most: maxRoles(limits)}
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

// Schema names the numbers in the records; nil once the superblock has been erased.
func (f *FS) Schema() *change.Schema {
	if f.geo == nil {
		return nil
	}
	return schema
}

// Observe looks at a write before it is done.
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

// observeMounted judges a write to a mounted file system as far as it goes to places of metadata or
// to the journal. Whatever is found: if the write is let through, the state follows it.
func (f *FS) observeMounted(w interp.Write, obs *interp.Observation) {
	m, p := f.m, &f.pending
	if bs := uint64(m.Geo.BlockSize); !w.Discard {
		p.filled = writtenRun{uint32(w.Off / bs), uint32((w.Off+w.Len-1)/bs - w.Off/bs + 1), w.Seq}
	}
	judge := p.super == nil && len(obs.Violations) == 0 && obs.Unknown == nil
	p.placed, p.unread = m.observeHome(w, PendingDevice{f.disk, w}, judge && !m.Log.recovering, obs)
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

// Settle ends the write last observed.
func (f *FS) Settle(written bool) {
	p := f.pending
	f.pending = pendingWrite{} // its bytes are the transport's
	f.release()
	if !written {
		p.refused(f)
	} else if err := p.landed(f); err != nil {
		f.failed = err
	}
}

// release gives back the memory of the write observed before.
func (f *FS) release() {
	f.memory.Release()
	if f.came != nil {
		f.came.memory.Release()
		f.came = nil
	}
}

// Flushed is told that writes are durable.
func (f *FS) Flushed(_ int, seq uint64) {
	f.order.flush(seq)
	f.data.flush(seq)
}

var _ interp.Interpreter = (*FS)(nil)

// Schema names the numbers in the records of ext3.
func Schema() *change.Schema { return schema }

var schema = ondisk.Schema()
