package ext3

import (
	"bytes"
	"errors"
	"io"

	"fsward/change"
	"fsward/interp"
)

// readTail reads the journal's superblock from a device on which it is being written, and judges it:
// it may let go of a transaction only when all blocks of that are in their places, and may point only
// at the beginning of a transaction. resync: the log goes on where it says, since the log was empty, or
// the guest's recovery after a crash has set it past what it replayed.
func (m *mounted) readTail(dev io.ReaderAt) (js journalSuper, resync bool, fault *change.Violation, err error) {
	geo := m.layout.geo
	block := m.journal.block(0)
	b, err := readBlock(dev, geo, block)
	if err != nil {
		return js, false, nil, err
	}
	addr := geo.addr(block)
	fail := func(c check, addr uint64, format string, args ...any) (journalSuper, bool, *change.Violation, error) {
		v := c.at(addr, format, args...)
		return js, false, &v, nil
	}
	js, err = parseJournalSuper(b, addr, geo.blockSize, m.journal.maxLen)
	var bad *interp.CorruptError
	switch {
	case errors.As(err, &bad):
		return fail(checkJournalSuper, addr, "%s", bad.Reason)
	case err != nil:
		return js, false, nil, err
	case js.maxLen != m.journal.maxLen || js.first != m.journal.first:
		return fail(checkJournalSuper, addr, "the log was blocks %d to %d of the journal, now %d to %d",
			m.journal.first, m.journal.maxLen-1, js.first, js.maxLen-1)
	case int32(js.seq-m.seq) < 0 && js.start == 0 && len(m.starts) > 0:
		return fail(checkJournalSuper, addr, "the log is empty before transaction %d, the last was %d", js.seq, m.seq-1)
	}
	if start, known := m.starts[js.seq]; known && js.start != 0 && start != js.start {
		return fail(checkJournalSuper, addr, "transaction %d begins at block %d of the journal, not at %d", js.seq, start, js.start)
	}
	lost, p, found, err := m.lost(dev, js.seq)
	if err != nil {
		return js, false, nil, err
	}
	if found {
		v := checkTail.at(geo.addr(lost), "block %d is not as transaction %d committed it", lost, p.seq)
		fault = &v
	}
	if js.start == 0 {
		return js, false, fault, nil
	}
	_, known := m.starts[js.seq]
	if resync = m.idle || !known && (js.seq != m.seq || js.start != m.head); !resync {
		return js, false, fault, nil
	}
	if !m.idle && int32(js.seq-m.seq) < 0 {
		return fail(checkJournalSuper, addr, "it points at transaction %d, which the log no longer holds", js.seq)
	}
	if _, err := m.journal.read(dev, js.start, js.seq); err == nil {
		return fail(checkJournalSuper, addr, "it points at transaction %d, which is whole and was not committed", js.seq)
	}
	return js, true, fault, nil
}

// inLog tells whether a write changes the log.
func (m *mounted) inLog(w interp.Write) bool {
	for _, r := range m.journal.runs {
		if r.logical == 0 {
			r.block, r.n = r.block+1, r.n-1 // the journal's superblock
		}
		if touches(w, m.layout.geo.addr(r.block), uint64(r.n)*uint64(m.layout.geo.blockSize)) {
			return true
		}
	}
	return false
}

// overwritten judges a write over a part of the log that recovery would still read, on the disk as it was before. A program
// that writes through the page cache, as e2fsck does the journal's superblock, writes a whole page, with what else is in
// it as it was.
func (m *mounted) overwritten(w interp.Write, before io.ReaderAt) (*change.Violation, error) {
	tail := m.journal.start
	if m.idle || tail == 0 || m.seq == m.journal.seq {
		return nil, nil
	}
	bs := uint64(m.layout.geo.blockSize)
	for _, r := range m.journal.runs {
		lo, hi := max(w.Off, m.layout.geo.addr(r.block)), min(w.Off+w.Len, m.layout.geo.addr(r.block+r.n))
		for at := lo / bs * bs; at < hi; at += bs {
			l := r.logical + uint32(at/bs) - r.block
			needed := tail < m.head && l >= tail && l < m.head || tail >= m.head && l >= m.journal.first && (l >= tail || l < m.head)
			if !needed || l >= m.journal.maxLen {
				continue
			}
			old, err := readBlock(before, m.layout.geo, uint32(at/bs))
			if err != nil {
				return nil, err
			}
			written, err := readBlock(pending{before, w}, m.layout.geo, uint32(at/bs))
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
func (m *mounted) moveTail(js journalSuper, head, seq uint32, idle bool) {
	m.journal.journalSuper, m.recovering = js, false
	m.head, m.seq, m.idle = head, seq, idle
	for old := range m.starts {
		if idle || int32(old-js.seq) < 0 {
			delete(m.starts, old)
		}
	}
	for b, p := range m.state.copies {
		if int32(p.seq-js.seq) < 0 || idle {
			m.state.drop(b) // the superblock's, or one that was let pass as lost
			m.state.kept.drop(b)
		}
	}
}

// holdsCommit tells whether a write puts the commit block of a transaction anywhere into the journal.
func (m *mounted) holdsCommit(w interp.Write, seq uint32) bool {
	bs := uint64(m.layout.geo.blockSize)
	for _, r := range m.journal.runs {
		lo, hi := max(w.Off, m.layout.geo.addr(r.block)), min(w.Off+w.Len, m.layout.geo.addr(r.block+r.n))
		if lo >= hi || w.Data == nil {
			continue
		}
		for at := lo / bs * bs; at < hi; at += bs {
			// A block that is not written as a whole is looked at as far as it is.
			if at >= w.Off && at+journalHeader <= w.Off+w.Len && isCommit(w.Data[at-w.Off:], seq) {
				return true
			}
		}
	}
	return false
}
