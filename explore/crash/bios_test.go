package crash

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"testing"

	"fsward/blocktap"
	"fsward/blocktap/trace"
	"fsward/explore/ramdisk"
)

// bioLog makes the stream of records that the module of the RAM disk writes (struct fsw_rd_record).
type bioLog struct {
	bytes.Buffer
	seq uint64
}

// write appends a record and its data. It takes the sequence number from the log.
func (l *bioLog) write(r *ramdisk.Record) {
	l.seq++
	b := make([]byte, 96)
	le := binary.LittleEndian
	le.PutUint64(b[0:], l.seq)
	le.PutUint64(b[16:], r.ID)
	le.PutUint64(b[24:], r.Sector)
	le.PutUint64(b[32:], r.Len)
	le.PutUint64(b[40:], r.Done)
	le.PutUint32(b[48:], uint32(len(r.Data)))
	le.PutUint16(b[52:], uint16(r.Type))
	le.PutUint16(b[54:], uint16(r.Op))
	le.PutUint32(b[56:], uint32(r.Flags))
	le.PutUint32(b[68:], uint32(r.Injected))
	l.Write(b)
	l.Write(r.Data)
	l.Write(make([]byte, -len(r.Data)&7))
}

func (l *bioLog) submit(id, sector uint64, flags ramdisk.Flags) {
	l.write(&ramdisk.Record{
		Type:   ramdisk.Submit,
		Op:     ramdisk.Write,
		Flags:  flags,
		ID:     id,
		Sector: sector,
		Len:    SectorSize,
		Data:   bytes.Repeat([]byte{1}, SectorSize),
	})
}

// complete completes a bio of one sector, of which the first done bytes reached the disk.
func (l *bioLog) complete(
	id, sector uint64, flags ramdisk.Flags, done uint64, injected ramdisk.Injected,
) {
	l.write(&ramdisk.Record{
		Type:     ramdisk.Complete,
		Op:       ramdisk.Write,
		Flags:    flags,
		ID:       id,
		Sector:   sector,
		Len:      SectorSize,
		Done:     done,
		Injected: injected,
	})
}

// statesOf returns the set of states, each as the first byte of each sector.
func statesOf(t *testing.T, events Events, sectors int) map[string]bool {
	t.Helper()
	got := make(map[string]bool)
	base := diskOf(make([]byte, sectors*SectorSize))
	_, err := Each(base, events, Options{}, func(s *State) error {
		b := make([]byte, s.Size())
		if _, err := s.ReadAt(b, 0); err != nil {
			return err
		}
		key := ""
		for i := range sectors {
			key += fmt.Sprint(b[i*SectorSize])
		}
		got[key] = true
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return got
}

func want(t *testing.T, got map[string]bool, states ...string) {
	t.Helper()
	if len(got) != len(states) {
		t.Errorf("states %v, want %v", got, states)
	}
	for _, s := range states {
		if !got[s] {
			t.Errorf("state %s is missing: %v", s, got)
		}
	}
}

// TestBios checks that a flush covers the writes that completed before it was submitted, that a
// write with a preflush is on no disk without them, and that a dropped flush covers nothing.
func TestBios(t *testing.T) {
	const sectors = 3
	run := func(make func(l *bioLog)) map[string]bool {
		var l bioLog
		make(&l)
		return statesOf(t, FromBios(ReadBios(ramdisk.NewReader(&l.Buffer)), 0), sectors)
	}
	commit := ramdisk.Preflush | ramdisk.FUA
	want(t, run(func(l *bioLog) { // a journal commit: two blocks, then the commit block after a flush
		l.submit(1, 0, 0)
		l.submit(2, 1, 0)
		l.complete(2, 1, 0, SectorSize, 0)
		l.complete(1, 0, 0, SectorSize, 0)
		l.submit(3, 2, commit)
		l.complete(3, 2, commit, SectorSize, 0)
	}), "000", "100", "010", "110", "111")
	want(t, run(func(l *bioLog) { // block 1 has not completed when the flush begins
		l.submit(1, 0, 0)
		l.submit(2, 1, 0)
		l.complete(2, 1, 0, SectorSize, 0)
		l.submit(3, 2, commit)
		l.complete(3, 2, commit, SectorSize, 0)
		l.complete(1, 0, 0, SectorSize, 0)
	}), "000", "100", "010", "110", "111", "011")
	want(t, run(func(l *bioLog) { // the flush is dropped
		l.submit(1, 0, 0)
		l.complete(1, 0, 0, SectorSize, 0)
		l.submit(2, 1, commit)
		l.complete(2, 1, commit, SectorSize, 1<<ramdisk.DropFlush)
	}), "000", "100", "010", "110")
	want(t, run(func(l *bioLog) { // the log ends before the commit block completes
		l.submit(1, 0, 0)
		l.complete(1, 0, 0, SectorSize, 0)
		l.submit(2, 1, commit)
	}), "000", "100", "110")
}

// TestBiosFailed checks that a torn write makes a Failed event, and that the event says that the
// disk reported success.
func TestBiosFailed(t *testing.T) {
	for _, flags := range []ramdisk.Flags{0, ramdisk.FUA, ramdisk.Preflush | ramdisk.FUA} {
		var l bioLog
		l.submit(1, 0, flags)
		l.complete(1, 0, flags, 0, 1<<ramdisk.Tear)
		var got []Event
		for ev, err := range FromBios(ReadBios(ramdisk.NewReader(&l.Buffer)), 0) {
			if err != nil {
				t.Fatal(err)
			}
			got = append(got, ev)
		}
		if len(got) != 2 || got[0].Kind != Issued || got[1].Kind != Failed || got[1].Done != 0 ||
			!got[1].Silent {
			t.Errorf("flags %#x: %+v", flags, got)
		}
	}
}

// TestTrace forms the states of a dm-log-writes log.
func TestTrace(t *testing.T) {
	var file memory
	w, err := trace.NewWriter(&file)
	if err != nil {
		t.Fatal(err)
	}
	write := func(sector uint64, fua bool) {
		r := &blocktap.Request{
			Op:   blocktap.OpWrite,
			Off:  sector * SectorSize,
			Len:  SectorSize,
			FUA:  fua,
			Data: bytes.Repeat([]byte{1}, SectorSize),
		}
		if err := w.Log(r); err != nil {
			t.Fatal(err)
		}
	}
	write(0, false)
	write(1, true)
	if err := w.Log(&blocktap.Request{Op: blocktap.OpFlush}); err != nil {
		t.Fatal(err)
	}
	write(2, false)
	r, err := trace.NewReader(bytes.NewReader(file))
	if err != nil {
		t.Fatal(err)
	}
	want(t, statesOf(t, FromTrace(r), 3), "000", "100", "010", "110", "111")
}

// memory is a file in memory.
type memory []byte

func (m *memory) WriteAt(p []byte, off int64) (int, error) {
	if end := int(off) + len(p); end > len(*m) {
		*m = append(*m, make([]byte, end-len(*m))...)
	}
	return copy((*m)[off:], p), nil
}
