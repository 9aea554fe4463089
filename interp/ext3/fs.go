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
	disk    *devices
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
	loose     bool
	memory    *interp.MemoryBudget
	limits    interp.Limits
	roleLimit uint64 // bound on roles, bytes; 0: none

	logged    bool // the log was written since the last commit or the last forecast
	forecasts interp.Forecasts[*forecast]
}

// New attaches to the file system on a disk, or to that on the first disk of an interp.Set that has
// one. If the file system needs recovery or is in use, New reads it together with the committed
// transactions of its journal. If it is marked clean, the mount reads it. The error is
// interp.ErrNotFound, *interp.UnsupportedError, *interp.MissingDiskError if the disk of an external
// journal is missing, *interp.CorruptError, or that of a read.
func New(d interp.Disk) (*FS, error) { return NewWithin(d, first(d), interp.Limits{}) }

// NewWithin is New for the file system on disk i of a Set, with bounds on memory.
func NewWithin(d interp.Disk, i int, limits interp.Limits) (*FS, error) {
	f := &FS{disk: newDevices(d, i), names: change.NewNames(), memory: limits.NewMemoryBudget(),
		limits: limits, roleLimit: maxRoleBytes(limits)}
	sb, err := readSuper(f.disk)
	if err != nil {
		return nil, err
	}
	if f.geo, err = ondisk.ParseGeometry(sb, f.disk.Size()); err != nil {
		return nil, err
	}
	if f.disk, err = f.disk.find(f.geo); err != nil || !ondisk.NeedsRecovery(sb) {
		return f, err
	}
	f.m, err = f.attach(f.disk, f.disk.Size())
	return f, err
}

func (f *FS) attach(dev io.ReaderAt, size uint64) (*Mounted, error) {
	m, err := Mount(dev, size)
	if err != nil {
		return nil, err
	}
	m.roleLimit = f.roleLimit
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

// Owns reports whether a disk belongs to the file system after the write under observation.
func (f *FS) Owns(disk int) bool {
	d := f.pending.devices(f.disk)
	return f.geo != nil && (disk == d.own || disk == d.journal)
}

// Disks returns the disks of the file system after the write under observation.
func (f *FS) Disks() []int {
	switch d := f.pending.devices(f.disk); {
	case f.geo == nil:
		return nil
	case d.journal == none:
		return []int{d.own}
	default:
		return []int{d.own, d.journal}
	}
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
	if disk, _ := interp.Locate(w.Off); disk != f.disk.own && f.m == nil {
		f.observeOtherDisk(w)
		return obs
	}
	var ours bool
	if w, ours = f.disk.local(w); !ours {
		return obs
	}
	f.observe(w, &obs)
	f.disk.globalize(obs.Violations)
	return obs
}

// observe judges a write to the disks of the file system, by its address in them.
func (f *FS) observe(w interp.Write, obs *interp.Observation) {
	m := f.m
	if touches(w, ondisk.SuperOff, ondisk.SuperLen) {
		f.observeSuper(w, obs)
	}
	if m == nil {
		f.pending.unmounted = true
		f.observeUnmounted(w, obs)
		return
	}
	f.observeJournalDevice(w, obs)
	f.observeMounted(w, obs)
}

// observeMounted judges the parts of a write that go to places of metadata or to the journal. The
// state follows the write if the write is performed, also if there are violations.
func (f *FS) observeMounted(w interp.Write, obs *interp.Observation) {
	m, p := f.m, &f.pending
	if bs := uint64(m.Geo.BlockSize); !w.Discard && w.Off < f.disk.Size() {
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

// Flushed says that the writes to a disk up to seq are durable.
func (f *FS) Flushed(disk int, seq uint64) {
	if disk == f.disk.logDisk() {
		f.order.flush(seq)
	}
	if disk == f.disk.own {
		f.data.flush(seq)
	}
}

var _ interp.Interpreter = (*FS)(nil)

// Schema names the numbers in the records of ext3.
func Schema() *change.Schema { return schema }

var schema = ondisk.Schema()

// Accept reads the state on the disk if it is not known. The commits that Settle could follow are
// the base already.
func (f *FS) Accept() {
	if f.failed == nil || f.m == nil {
		return
	}
	if m, err := f.attach(f.disk, f.disk.Size()); err == nil {
		(&superChange{geo: m.Geo, m: m}).landed(f)
		f.failed = nil
	}
}
