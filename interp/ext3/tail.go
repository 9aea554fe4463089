package ext3

import (
	"bytes"
	"errors"
	"io"

	"fsward/change"
	"fsward/interp"
	"fsward/interp/ext3/ondisk"
)

// readTail reads the journal's superblock from a device on which it is being written, and judges it:
// it may let go of a transaction only when all blocks of that are in their places, and may point only
// at the beginning of a transaction. resync: the log goes on where it says, since the log was empty, or
// the guest's recovery after a crash has set it past what it replayed.
func (m *Mounted) readTail(dev io.ReaderAt) (js ondisk.JournalSuper, resync bool, fault *change.Violation, err error) {
	geo := m.Layout.Geo
	block := m.Journal.Block(0)
	b, err := ReadBlock(dev, geo, block)
	if err != nil {
		return js, false, nil, err
	}
	addr := geo.Addr(block)
	fail := func(c check, addr uint64, format string, args ...any) (ondisk.JournalSuper, bool, *change.Violation, error) {
		v := c.at(addr, format, args...)
		return js, false, &v, nil
	}
	js, err = ondisk.ParseJournalSuper(b, addr, geo.BlockSize, m.Journal.MaxLen)
	var bad *interp.CorruptError
	switch {
	case errors.As(err, &bad):
		return fail(checkJournalSuper, addr, "%s", bad.Reason)
	case err != nil:
		return js, false, nil, err
	case js.MaxLen != m.Journal.MaxLen || js.First != m.Journal.First:
		return fail(checkJournalSuper, addr, "the log was blocks %d to %d of the journal, now %d to %d",
			m.Journal.First, m.Journal.MaxLen-1, js.First, js.MaxLen-1)
	case int32(js.Seq-m.Seq) < 0 && js.Start == 0 && len(m.Starts) > 0:
		return fail(checkJournalSuper, addr, "the log is empty before transaction %d, the last was %d", js.Seq, m.Seq-1)
	}
	if start, known := m.Starts[js.Seq]; known && js.Start != 0 && start != js.Start {
		return fail(checkJournalSuper, addr, "transaction %d begins at block %d of the journal, not at %d", js.Seq, start, js.Start)
	}
	lost, p, found, err := m.lost(dev, js.Seq)
	if err != nil {
		return js, false, nil, err
	}
	if found {
		v := checkTail.at(geo.Addr(lost), "block %d is not as transaction %d committed it", lost, p.Seq)
		fault = &v
	}
	if js.Start == 0 {
		return js, false, fault, nil
	}
	_, known := m.Starts[js.Seq]
	if resync = m.idle || !known && (js.Seq != m.Seq || js.Start != m.head); !resync {
		return js, false, fault, nil
	}
	if !m.idle && int32(js.Seq-m.Seq) < 0 {
		return fail(checkJournalSuper, addr, "it points at transaction %d, which the log no longer holds", js.Seq)
	}
	if _, err := m.Journal.Read(dev, js.Start, js.Seq); err == nil {
		return fail(checkJournalSuper, addr, "it points at transaction %d, which is whole and was not committed", js.Seq)
	}
	return js, true, fault, nil
}

// inLog tells whether a write changes the log.
func (m *Mounted) inLog(w interp.Write) bool {
	for _, r := range m.Journal.Runs {
		if r.logical == 0 {
			r.Block, r.N = r.Block+1, r.N-1 // the journal's superblock
		}
		if touches(w, m.Layout.Geo.Addr(r.Block), uint64(r.N)*uint64(m.Layout.Geo.BlockSize)) {
			return true
		}
	}
	return false
}

// overwritten judges a write over a part of the log that recovery would still read, on the disk as it was before. A program
// that writes through the page cache, as e2fsck does the journal's superblock, writes a whole page, with what else is in
// it as it was.
func (m *Mounted) overwritten(w interp.Write, before io.ReaderAt) (*change.Violation, error) {
	tail := m.Journal.Start
	if m.idle || tail == 0 || m.Seq == m.Journal.Seq {
		return nil, nil
	}
	bs := uint64(m.Layout.Geo.BlockSize)
	for _, r := range m.Journal.Runs {
		lo, hi := max(w.Off, m.Layout.Geo.Addr(r.Block)), min(w.Off+w.Len, m.Layout.Geo.Addr(r.Block+r.N))
		for at := lo / bs * bs; at < hi; at += bs {
			l := r.logical + uint32(at/bs) - r.Block
			needed := tail < m.head && l >= tail && l < m.head || tail >= m.head && l >= m.Journal.First && (l >= tail || l < m.head)
			if !needed || l >= m.Journal.MaxLen {
				continue
			}
			old, err := ReadBlock(before, m.Layout.Geo, uint32(at/bs))
			if err != nil {
				return nil, err
			}
			written, err := ReadBlock(PendingDevice{before, w}, m.Layout.Geo, uint32(at/bs))
			if err != nil {
				return nil, err
			}
			if w.Discard || !bytes.Equal(old, written) {
				v := checkOverwrite.at(at, "block %d of the journal is overwritten; transactions from block %d to block %d are needed", l, tail, m.head)
				return &v, nil
			}
		}
	}
	return nil, nil
}

// moveTail makes the journal's superblock that was written the one that counts.
func (m *Mounted) moveTail(js ondisk.JournalSuper, head, seq uint32, idle bool) {
	m.Journal.JournalSuper, m.recovering = js, false
	m.head, m.Seq, m.idle = head, seq, idle
	for old := range m.Starts {
		if idle || int32(old-js.Seq) < 0 {
			delete(m.Starts, old)
		}
	}
	for b, p := range m.State.Copies {
		if int32(p.Seq-js.Seq) < 0 || idle {
			m.State.drop(b) // the superblock's, or one that was let pass as lost
			m.State.kept.drop(b)
		}
	}
}

// holdsCommit tells whether a write puts the commit block of a transaction anywhere into the journal.
func (m *Mounted) holdsCommit(w interp.Write, seq uint32) bool {
	bs := uint64(m.Layout.Geo.BlockSize)
	for _, r := range m.Journal.Runs {
		lo, hi := max(w.Off, m.Layout.Geo.Addr(r.Block)), min(w.Off+w.Len, m.Layout.Geo.Addr(r.Block+r.N))
		if lo >= hi || w.Data == nil {
			continue
		}
		for at := lo / bs * bs; at < hi; at += bs {
			// A block that is not written as a whole is looked at as far as it is.
			if at >= w.Off && at+ondisk.JournalHeader <= w.Off+w.Len && ondisk.IsCommit(w.Data[at-w.Off:], seq) {
				return true
			}
		}
	}
	return false
}
