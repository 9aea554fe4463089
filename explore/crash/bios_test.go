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

// bioLog makes the stream that the RAM disk's module writes (struct fsw_rd_record).
type bioLog struct {
	bytes.Buffer
	seq uint64
}

func (l *bioLog) record(typ ramdisk.Type, op ramdisk.Op, flags ramdisk.Flags, id, sector, length, done uint64, injected ramdisk.Injected, data []byte) {
	l.seq++
	b := make([]byte, 96)
	le := binary.LittleEndian
	le.PutUint64(b[0:], l.seq)
	le.PutUint64(b[16:], id)
	le.PutUint64(b[24:], sector)
	le.PutUint64(b[32:], length)
	le.PutUint64(b[40:], done)
	le.PutUint32(b[48:], uint32(len(data)))
	le.PutUint16(b[52:], uint16(typ))
	le.PutUint16(b[54:], uint16(op))
	le.PutUint32(b[56:], uint32(flags))
	le.PutUint32(b[68:], uint32(injected))
	l.Write(b)
	l.Write(data)
	l.Write(make([]byte, -len(data)&7))
}

func (l *bioLog) submit(id, sector uint64, flags ramdisk.Flags) {
	l.record(ramdisk.Submit, ramdisk.Write, flags, id, sector, SectorSize, 0, 0, bytes.Repeat([]byte{1}, SectorSize))
}

func (l *bioLog) complete(id, sector uint64, flags ramdisk.Flags, injected ramdisk.Injected) {
	l.record(ramdisk.Complete, ramdisk.Write, flags, id, sector, SectorSize, SectorSize, injected, nil)
}

// statesOf returns the first byte of each sector in each state.
func statesOf(t *testing.T, events Events, sectors int) map[string]bool {
	t.Helper()
	got := make(map[string]bool)
	_, err := Each(diskOf(make([]byte, sectors*SectorSize)), events, Options{}, func(s *State) error {
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

// TestBios: a flush covers what completed before it was submitted, a write with a flush before it comes after what that
// covers, and a flush that the disk dropped covers nothing.
func TestBios(t *testing.T) {
	const sectors = 3
	run := func(make func(l *bioLog)) map[string]bool {
		var l bioLog
		make(&l)
		return statesOf(t, FromBios(ReadBios(ramdisk.NewReader(&l.Buffer)), 0), sectors)
	}
	commit := ramdisk.Preflush | ramdisk.FUA
	want(t, run(func(l *bioLog) { // a journal's commit: two blocks, then the commit block after a flush
		l.submit(1, 0, 0)
		l.submit(2, 1, 0)
		l.complete(2, 1, 0, 0)
		l.complete(1, 0, 0, 0)
		l.submit(3, 2, commit)
		l.complete(3, 2, commit, 0)
	}), "000", "100", "010", "110", "111")
	want(t, run(func(l *bioLog) { // block 1 has not completed when the flush begins
		l.submit(1, 0, 0)
		l.submit(2, 1, 0)
		l.complete(2, 1, 0, 0)
		l.submit(3, 2, commit)
		l.complete(3, 2, commit, 0)
		l.complete(1, 0, 0, 0)
	}), "000", "100", "010", "110", "111", "011")
	want(t, run(func(l *bioLog) { // the flush is dropped
		l.submit(1, 0, 0)
		l.complete(1, 0, 0, 0)
		l.submit(2, 1, commit)
		l.complete(2, 1, commit, 1<<ramdisk.DropFlush)
	}), "000", "100", "010", "110")
	want(t, run(func(l *bioLog) { // the log ends before the commit block completes
		l.submit(1, 0, 0)
		l.complete(1, 0, 0, 0)
		l.submit(2, 1, commit)
	}), "000", "100", "110")
}

// A write of which only a part took effect, or nothing, is told of, and whether whoever wrote was.
func TestBiosFailed(t *testing.T) {
	for _, flags := range []ramdisk.Flags{0, ramdisk.FUA, ramdisk.Preflush | ramdisk.FUA} {
		var l bioLog
		l.submit(1, 0, flags)
		l.record(ramdisk.Complete, ramdisk.Write, flags, 1, 0, SectorSize, 0, 1<<ramdisk.Tear, nil)
		var got []Event
		for ev, err := range FromBios(ReadBios(ramdisk.NewReader(&l.Buffer)), 0) {
			if err != nil {
				t.Fatal(err)
			}
			got = append(got, ev)
		}
		if len(got) != 2 || got[0].Kind != Issued || got[1].Kind != Failed || got[1].Done != 0 || !got[1].Silent {
			t.Errorf("flags %#x: %+v", flags, got)
		}
	}
}

// TestTrace reads a log of dm-log-writes.
func TestTrace(t *testing.T) {
	var file memory
	w, err := trace.NewWriter(&file)
	if err != nil {
		t.Fatal(err)
	}
	write := func(sector uint64, fua bool) {
		r := &blocktap.Request{Op: blocktap.OpWrite, Off: sector * SectorSize, Len: SectorSize, FUA: fua, Data: bytes.Repeat([]byte{1}, SectorSize)}
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
