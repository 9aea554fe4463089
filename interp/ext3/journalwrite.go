package ext3

import (
	"errors"
	"fmt"

	"fsward/interp"
	"fsward/interp/ext3/ondisk"
)

// observeJournal judges the part of a write that is in the journal.
func (f *FS) observeJournal(w interp.Write, obs *interp.Observation) {
	m := f.m
	at := tailMove{head: m.Log.head, nextSeq: m.Log.nextSeq, idle: m.Log.idle}
	if touches(w, m.Geo.Addr(m.Log.superBlock()), ondisk.JournalSuperLen) &&
		!f.observeTail(PendingDevice{f.disk, w}, &at, obs) {
		return
	}
	v, err := m.Log.overwritten(w, f.disk)
	if err != nil {
		obs.Unknown = err
		return
	}
	if v != nil {
		obs.Violations = append(obs.Violations, *v)
	}
	if at.idle || !m.Log.holdsCommit(w, at.nextSeq) {
		return
	}
	obs.Point, obs.Generation = interp.CommitPoint, uint64(at.nextSeq)
	f.observeCommit(w, at, obs)
}

// observeTail judges a write of the journal's superblock. at becomes the place where the log
// continues after the write. observeTail reports whether the rest of the write has to be judged.
func (f *FS) observeTail(dev PendingDevice, at *tailMove, obs *interp.Observation) bool {
	js, resync, fault, err := f.m.readTail(dev)
	switch {
	case err != nil:
		obs.Unknown = err
		return false
	case fault != nil:
		obs.Violations = append(obs.Violations, *fault)
		if fault.Rule != checkTail.name {
			return false
		}
	}
	at.super = js
	if js.Start == 0 || resync {
		at.head, at.nextSeq, at.idle = js.Start, js.Seq, js.Start == 0
	}
	moved := *at
	f.pending.tail = &moved
	return true
}

// observeCommit judges a write with the commit block of the transaction at the head of the log.
func (f *FS) observeCommit(w interp.Write, at tailMove, obs *interp.Observation) {
	m, dev := f.m, PendingDevice{f.disk, w}
	var t *transaction
	var err error
	if fc := f.foreseen(w); fc != nil {
		t = fc.cmp.t
	} else {
		t, err = m.Log.Read(dev, at.head, at.nextSeq)
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
	if _, err := m.Log.Read(dev, t.next, t.seq+1); err == nil {
		obs.Violations = append(obs.Violations, checkJournalChain.at(m.Geo.Addr(m.Log.Block(t.next)),
			"transaction %d is whole before %d was committed", t.seq+1, t.seq))
		return
	}
	// cleared at the next mount, before its first transaction (ext4_clear_journal_err)
	if m.Log.Errno != 0 {
		obs.Violations = append(obs.Violations, checkJournalSuper.at(m.Geo.Addr(m.Log.superBlock()),
			"transaction %d is committed to a journal that was given up with error %d", t.seq,
			int32(m.Log.Errno)))
		return
	}
	f.observeOrder(w, t, obs)
	if came := f.forecasts.Came(); came != nil {
		f.commit(came.cmp, obs)
		return
	}
	f.names.Reset()
	f.commit(m.compare(t, m.State, dev, f.disk.Size(), f.names, f.memory,
		f.limits.Work.Begin(), true), obs)
}

// commit puts the changes of a transaction into an observation.
func (f *FS) commit(c comparison, obs *interp.Observation) {
	c.conclude(obs)
	if c.delta == nil {
		return
	}
	late := f.observeData(c, obs)
	if was, is := f.m.Geo.UUID, c.layout.Geo.UUID; is != was && obs.Note == "" {
		obs.Note = fmt.Sprintf("the file system gets another UUID: %x, was %x", is, was)
	}
	f.pending.commit = &commitWrite{c, obs.Unknown == nil && len(c.delta.faults) == 0, late}
}
