// Package ext3 follows an ext3 file system from the writes that its guest makes: it finds the commits
// of its journal (jbd2), checks the structure of what they hold, and says what they change.
//
// A commit is the write of a commit block where the running transaction ends in the log. What it
// changes is the difference between the file system with and without that transaction; blocks that
// earlier transactions committed count as committed, whether or not they are in their places yet.
package ext3

import (
	"bytes"
	"errors"
	"fmt"
	"io"

	"fsward/change"
	"fsward/interp"
	"fsward/interp/ext3/ondisk"
)

// FS is the Interpreter of one ext3 file system.
type FS struct {
	disk  interp.Disk
	geo   *ondisk.Geometry // nil: the superblock is gone
	m     *Mounted         // nil while the file system is not mounted
	names *change.Names
	// settle is what the write last observed does to the above once it is on the device.
	settle func() error
	order  order
	data   dataOrder
	wrote  writtenRun   // what the write last observed makes of data; of 0 blocks: nothing
	logs   interp.Write // the write last observed, if it is in the log; of 0 bytes: it is not
	tail   logTail
	stale  []uint32 // blocks that are kept, and of which it makes something else
	// ordered: data comes before the commit that makes it reachable.
	ordered bool
	failed  error // a device that could not be read when a write was settled
	// loose: something was written while the file system was not mounted, by a tool that repairs it, say.
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
	m.State.kept = newKeptBlocks(maxKept(f.limits), m.Layout.Geo)
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
	f.settle, f.wrote, f.logs, f.stale = nil, writtenRun{}, interp.Write{}, nil
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
		if f.settle == nil {
			f.settle = func() error { f.loose = true; return nil }
		}
		return obs
	}
	if bs := uint64(m.Layout.Geo.BlockSize); !w.Discard {
		f.wrote = writtenRun{uint32(w.Off / bs), uint32((w.Off+w.Len-1)/bs - w.Off/bs + 1), w.Seq}
	}
	judge := f.settle == nil && len(obs.Violations) == 0 && obs.Unknown == nil
	placed, err := m.observeHome(w, PendingDevice{f.disk, w}, judge && !m.recovering, &obs)
	if err != nil && judge {
		obs.Unknown = err
	}
	f.stale = m.State.stale(w, placed)
	if judge && len(obs.Violations) == 0 && obs.Unknown == nil {
		f.observeJournal(w, &obs)
	}
	logs := m.inLog(w)
	if logs {
		f.logs = w
	}
	if obs.Point == interp.NoPoint {
		if logs {
			f.order.last = max(f.order.last, w.Seq)
			f.logged = true
		}
		f.meanwhile(w)
	}
	// Whatever is found: if the write is let through, the state follows it.
	if then := f.settle; then != nil || len(placed) > 0 || err != nil {
		f.settle = func() error {
			for _, block := range placed {
				m.State.drop(block)
			}
			if err != nil || then == nil {
				return err
			}
			return then()
		}
	}
	return obs
}

// Settle ends the write last observed.
func (f *FS) Settle(written bool) {
	settle := f.settle
	f.settle = nil
	f.release()
	if f.m != nil && written && len(f.m.State.cache) > 0 {
		f.m.State.forget()
	}
	if f.m != nil {
		f.m.State.kept.drop(f.stale...)
	}
	if f.m != nil && f.logs.Len > 0 {
		if !written {
			f.logs.Data = nil
		}
		f.tail.wrote(f.logs, &f.m.Journal, maxKept(f.limits))
	}
	f.logs = interp.Write{} // its bytes are the transport's
	if settle != nil && written {
		f.failed = settle()
	}
	if f.wrote.n > 0 && written {
		f.data.wrote(f.wrote)
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

// observeSuper judges a write over the primary superblock. It is not journaled: the kernel writes its
// counts and flags in place when the file system is mounted, synced and unmounted.
func (f *FS) observeSuper(w interp.Write, obs *interp.Observation) {
	dev := PendingDevice{f.disk, w}
	sb, err := readSuper(dev)
	if err != nil {
		obs.Unknown = err
		return
	}
	if bytes.Count(sb, []byte{0}) == len(sb) {
		obs.Note = "the superblock was erased: no file system any more"
		f.settle = func() error { f.geo, f.m = nil, nil; return nil }
		return
	}
	geo, err := ondisk.ParseGeometry(sb, f.disk.Size())
	var foreign *interp.UnsupportedError
	switch {
	case errors.As(err, &foreign) && f.m == nil:
		obs.Unknown = err
		return
	case err != nil:
		obs.Violations = append(obs.Violations, on(checkSuperblock.at(ondisk.SuperOff, "%v", err), ondisk.KindSuperblock, 0))
		return
	}
	if geo.JournalInum == 0 && f.m == nil {
		f.observePlain(sb, geo, dev, obs)
		return
	}
	inUse := ondisk.NeedsRecovery(sb)
	switch {
	case f.m != nil && geo.UUID != f.geo.UUID && !inUse:
		obs.Note = "another ext3 file system was made here: it is read when it is mounted"
		f.settle = func() error { f.geo, f.m = geo, nil; return nil }
	case f.m != nil:
		if changed := geo.ChangedFrom(f.geo); changed != "" {
			obs.Violations = append(obs.Violations, on(checkImmutable.at(ondisk.SuperOff, "%s", changed), ondisk.KindSuperblock, 0))
			return
		}
		if err := f.m.copyFault(sb, obs); err != nil {
			obs.Unknown = err
			return
		}
		if inUse {
			return
		}
		if err := f.m.cleanFaults(sb, obs); err != nil {
			obs.Unknown = err
			return
		}
		obs.Note = "unmounted: writes pass until it is mounted again"
		f.settle = func() error { f.m = nil; return nil }
	case inUse:
		m, err := f.attach(dev, f.disk.Size())
		var bad *interp.CorruptError
		switch {
		case errors.As(err, &bad):
			v := checkBaseline.at(bad.Addr, "%s", bad.Reason)
			obs.Violations = append(obs.Violations, v)
			return
		case err != nil:
			obs.Unknown = err
			return
		}
		obs.Note = "mounted; its present state is the baseline: " + m.describe()
		obs.Baseline = f.loose
		f.settle = func() error {
			m.State.dev = f.disk
			f.order, f.data = order{durable: f.order.durable}, dataOrder{commits: 2} // nothing was written before it was mounted
			f.geo, f.m, f.loose = m.Layout.Geo, m, false
			return nil
		}
	default:
		f.settle = func() error { f.geo = geo; return nil }
	}
}

// cleanFaults checks what has to be true when a file system is marked clean. Counts that are left as they
// were are no fault: e2fsck replays a journal, clears the mark, and only then counts.
func (m *Mounted) cleanFaults(sb []byte, obs *interp.Observation) error {
	block, p, found, err := m.lost(m.State.dev, m.Seq)
	if err != nil {
		return err
	}
	if found {
		obs.Violations = append(obs.Violations, checkCleanJournal.at(m.Layout.Geo.Addr(block),
			"block %d is not as transaction %d committed it", block, p.Seq))
		return nil
	}
	before, err := readSuper(m.State.dev)
	if err != nil {
		return err
	}
	var blocks, inodes uint64
	for g := range m.Layout.Geo.Groups {
		desc, err := m.desc(g)
		if err != nil {
			return err
		}
		blocks += uint64(ondisk.LE16(desc, ondisk.GroupFreeBlocks))
		inodes += uint64(ondisk.LE16(desc, ondisk.GroupFreeInodes))
	}
	for _, c := range []struct {
		name string
		at   int
		want uint64
	}{{"blocks", ondisk.SuperFreeBlocks, blocks}, {"inodes", ondisk.SuperFreeInodes, inodes}} {
		if have := ondisk.LE32(sb, c.at); uint64(have) != c.want && have != ondisk.LE32(before, c.at) {
			obs.Violations = append(obs.Violations, on(checkCleanCounts.at(ondisk.SuperOff,
				"the superblock counts %d free %s, the groups %d", have, c.name, c.want), ondisk.KindSuperblock, 0))
		}
	}
	return nil
}

// observeJournal judges a write as far as it is in the journal.
func (f *FS) observeJournal(w interp.Write, obs *interp.Observation) {
	m := f.m
	head, seq, idle := m.head, m.Seq, m.idle
	dev := PendingDevice{f.disk, w}
	if at := m.Layout.Geo.Addr(m.Journal.Block(0)); touches(w, at, ondisk.JournalSuperLen) {
		js, resync, fault, err := m.readTail(dev)
		switch {
		case err != nil:
			obs.Unknown = err
			return
		case fault != nil:
			obs.Violations = append(obs.Violations, *fault)
			if fault.Rule != checkTail.name {
				return
			}
		}
		if js.Start == 0 || resync {
			head, seq, idle = js.Start, js.Seq, js.Start == 0
		}
		f.settle = func() error { m.moveTail(js, head, seq, idle); return nil }
	}
	v, err := m.overwritten(w, f.disk)
	if err != nil {
		obs.Unknown = err
		return
	}
	if v != nil {
		obs.Violations = append(obs.Violations, *v)
	}
	if idle || !m.holdsCommit(w, seq) {
		return
	}
	obs.Point, obs.Generation = interp.CommitPoint, uint64(seq)
	var t *transaction
	if fc := f.foreseen(w); fc != nil {
		t = fc.cmp.t
	} else {
		t, err = m.Journal.Read(dev, head, seq)
	}
	var chain *chainError
	switch {
	case errors.As(err, &chain):
		obs.Violations = append(obs.Violations, chain.check.at(chain.addr, "%s", chain.reason))
		return
	case err != nil:
		obs.Unknown = err
		return
	}
	if _, err := m.Journal.Read(dev, t.next, seq+1); err == nil {
		obs.Violations = append(obs.Violations, checkJournalChain.at(m.Layout.Geo.Addr(m.Journal.Block(t.next)),
			"transaction %d is whole before %d was committed", seq+1, seq))
		return
	}
	if m.Journal.Errno != 0 { // cleared at the next mount, before its first transaction (ext4_clear_journal_err)
		obs.Violations = append(obs.Violations, checkJournalSuper.at(m.Layout.Geo.Addr(m.Journal.Block(0)),
			"transaction %d is committed to a journal that was given up with error %d", seq, int32(m.Journal.Errno)))
		return
	}
	f.observeOrder(w, t, obs)
	if f.came != nil {
		f.commit(f.came.cmp, obs)
		return
	}
	f.names.Reset()
	f.commit(m.compare(t, m.State, dev, f.disk.Size(), f.names, f.memory), obs)
}

// commit puts what a transaction changes into an observation.
func (f *FS) commit(c comparison, obs *interp.Observation) {
	m := f.m
	c.conclude(obs)
	if c.delta == nil {
		return
	}
	f.observeData(c, obs)
	if c.layout.Geo.UUID != m.Layout.Geo.UUID && obs.Note == "" {
		obs.Note = fmt.Sprintf("the file system gets another UUID: %x, was %x", c.layout.Geo.UUID, m.Layout.Geo.UUID)
	}
	then := f.settle
	f.settle = func() error {
		if then != nil {
			if err := then(); err != nil {
				return err
			}
		}
		m.State.kept.committed(c)
		f.tail = logTail{}
		m.commit(c.t)
		f.data.committed(f.order.flushed)
		f.order.committed()
		if c.layout != m.Layout {
			m.become(c.layout)
			f.geo = c.layout.Geo
		}
		if obs.Unknown != nil || len(c.delta.faults) > 0 {
			return m.ReadRoles() // the delta is not whole
		}
		m.follow(c.delta)
		return nil
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
