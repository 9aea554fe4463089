package ext3

import (
	"errors"
	"io"

	"fsward/change"
	"fsward/interp"
	"fsward/interp/ext3/ondisk"
)

// readTail reads the journal's superblock from a device on which it is being written, and checks
// it. The superblock may drop a transaction only when all its blocks are in their places, and may
// point only at the beginning of a transaction. resync means that the log continues where the
// superblock points: the log was empty, or the guest's recovery after a crash has moved past the
// transactions that it replayed.
func (m *Mounted) readTail(dev io.ReaderAt) (js ondisk.JournalSuper, resync bool,
	fault *change.Violation, err error) {
	geo := m.Geo
	block := m.Log.superBlock()
	b, err := ReadBlock(dev, geo, block)
	if err != nil {
		return js, false, nil, err
	}
	addr := geo.Addr(block)
	fail := func(c check, addr uint64, format string, args ...any) (ondisk.JournalSuper, bool,
		*change.Violation, error) {
		v := c.at(addr, format, args...)
		return js, false, &v, nil
	}
	js, err = ondisk.ParseJournalSuper(b, addr, geo.BlockSize, m.Log.MaxLen)
	var bad *interp.CorruptError
	switch {
	case errors.As(err, &bad):
		return fail(checkJournalSuper, addr, "%s", bad.Reason)
	case err != nil:
		return js, false, nil, err
	case js.MaxLen != m.Log.MaxLen || js.First != m.Log.First:
		return fail(checkJournalSuper, addr, "the log was blocks %d to %d of the journal, now %d to %d",
			m.Log.First, m.Log.MaxLen-1, js.First, js.MaxLen-1)
	case int32(js.Seq-m.Log.nextSeq) < 0 && js.Start == 0 && len(m.Log.starts) > 0:
		return fail(checkJournalSuper, addr, "the log is empty before transaction %d, the last was %d",
			js.Seq, m.Log.nextSeq-1)
	}
	if start, known := m.Log.starts[js.Seq]; known && js.Start != 0 && start != js.Start {
		return fail(checkJournalSuper, addr,
			"transaction %d begins at block %d of the journal, not at %d", js.Seq, start, js.Start)
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
	_, known := m.Log.starts[js.Seq]
	if resync = m.Log.idle || !known && (js.Seq != m.Log.nextSeq || js.Start != m.Log.head); !resync {
		return js, false, fault, nil
	}
	if !m.Log.idle && int32(js.Seq-m.Log.nextSeq) < 0 {
		return fail(checkJournalSuper, addr, "it points at transaction %d, which the log no longer holds",
			js.Seq)
	}
	if _, err := m.Log.Read(dev, js.Start, js.Seq); err == nil {
		return fail(checkJournalSuper, addr,
			"it points at transaction %d, which is whole and was not committed", js.Seq)
	}
	return js, true, fault, nil
}

// moveTail makes the written superblock of the journal the present one.
func (m *Mounted) moveTail(to tailMove) {
	m.Log.moveTo(to)
	for b, p := range m.State.Copies {
		if int32(p.Seq-to.super.Seq) < 0 || to.idle {
			m.State.drop(b) // the superblock's copy, or one whose loss was let through
			m.State.kept.drop(b)
		}
	}
}
