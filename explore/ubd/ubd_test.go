package ubd

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"fsward/explore/ramdisk"
)

// newLog returns a log with a ring of a size in bytes.
func newLog(t testing.TB, ring int) *Log {
	t.Helper()
	l, err := NewLog(filepath.Join(t.TempDir(), "log"), ring, make(Area, AreaBytes))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := l.Close(); err != nil {
			t.Error(err)
		}
	})
	return l
}

// add adds an entry as the library does: add() in explore/uml/shim/disks.c.
func (l *Log) add(op ramdisk.Op, disk uint32, from, done uint64, status uint32, data string) {
	e := make(Area, entryBytes, entryBytes+len(data))
	e.setHalf(0, uint32(op))
	e.setHalf(4, disk)
	e.setWord(8, from)
	e.setWord(16, uint64(len(data)))
	e.setWord(24, done)
	e.setHalf(32, status)
	e.setHalf(36, status)
	if op == ramdisk.Write {
		e.setWord(40, uint64(len(data)))
		e = append(e, data...)
	}
	at := l.area.word(writtenAt)
	for i, b := range e {
		l.ring[(at+uint64(i))%uint64(len(l.ring))] = b
	}
	l.area.setWord(writtenAt, at+uint64(len(e)))
}

// take returns the records as text.
func (l *Log) take(t testing.TB) string {
	t.Helper()
	records, err := l.Take()
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	for _, r := range records {
		text := r.Type.String()
		switch {
		case r.Type == ramdisk.Mark:
			text += " " + string(r.Data)
		case r.Type == ramdisk.Submit && r.Op == ramdisk.Write:
			text += " " + string(r.Data[:1])
		case r.Status != 0:
			text += " " + r.Status.Error()
		}
		if r.Type == ramdisk.Submit || r.Type == ramdisk.Complete {
			text = r.Op.String() + " " + text
		}
		out = append(out, text)
	}
	return strings.Join(out, ", ")
}

func sector(letter string) string { return strings.Repeat(letter, ramdisk.SectorSize) }

// Requests and marks come as records, in their order, also around the end of the ring.
func TestLog(t *testing.T) {
	l := newLog(t, 2000)
	for range 5 { // 5 * 1,120 bytes
		l.add(ramdisk.Write, 1, 512, 512, 0, sector("a"))
		if err := l.area.Mark("one"); err != nil {
			t.Fatal(err)
		}
		if err := l.area.Mark("two"); err != nil {
			t.Fatal(err)
		}
		l.add(ramdisk.Flush, 1, 0, 0, 0, "")
		l.add(ramdisk.Write, 0, 0, 0, uint32(unix.EIO), sector("b"))
		const want = "write submit a, write complete, mark one, mark two, flush submit, " +
			"flush complete, write submit b, write complete input/output error"
		if got := l.take(t); got != want {
			t.Fatalf("%s\nwant %s", got, want)
		}
	}
	if got := l.take(t); got != "" {
		t.Errorf("again: %s", got)
	}
	if err := l.area.Mark("last"); err != nil {
		t.Fatal(err)
	}
	l.area.setWord(lostAt, 3)
	if got := l.take(t); got != "mark last, lost" {
		t.Error(got)
	}
}

// The fields of a record are those of the request.
func TestRecord(t *testing.T) {
	l := newLog(t, 4096)
	l.add(ramdisk.Write, 3, 1024, 0, uint32(unix.EIO), sector("x"))
	l.add(ramdisk.Flush, 3, 0, 0, 0, "")
	got, err := l.Take()
	if err != nil || len(got) != 4 {
		t.Fatalf("%+v, %v", got, err)
	}
	w, done, f := got[0], got[1], got[2]
	if w.Seq != 1 || w.ID != 1 || w.Sector != 2 || w.Len != 512 || w.Disk != 3 ||
		!bytes.Equal(w.Data, []byte(sector("x"))) {
		t.Errorf("%+v", w)
	}
	if done.Seq != 2 || done.ID != 1 || done.Done != 0 || done.Status != unix.EIO ||
		!done.Injected.Has(ramdisk.Fail) {
		t.Errorf("%+v", done)
	}
	if f.ID != 2 || f.Flags != ramdisk.Preflush || f.Len != 0 {
		t.Errorf("%+v", f)
	}
}

// Marks that do not fit are counted, and the others are kept.
func TestLostMarks(t *testing.T) {
	l := newLog(t, 4096)
	text := strings.Repeat("m", ramdisk.MaxText)
	for range 2 * AreaBytes / len(text) {
		if err := l.area.Mark(text); err != nil {
			t.Fatal(err)
		}
	}
	records, err := l.Take()
	last, all := records[len(records)-1], 2*AreaBytes/len(text)
	if err != nil || last.Type != ramdisk.Lost || int(last.Len)+len(records)-1 != all {
		t.Errorf("%d records, %+v, %v", len(records), last, err)
	}
	if err := l.area.Mark(text + "m"); !errors.Is(err, unix.EINVAL) {
		t.Errorf("a long mark: %v", err)
	}
}

// A log or marks that the library cannot have written are refused.
func TestHostile(t *testing.T) {
	for name, spoil := range map[string]func(l *Log){
		"longer than the ring": func(l *Log) { l.area.setWord(writtenAt, 5000) },
		"shorter than before":  func(l *Log) { l.area.setWord(takenAt, 1); l.area.setWord(writtenAt, 0) },
		"half an entry":        func(l *Log) { l.area.setWord(writtenAt, entryBytes-1) },
		"an unknown operation": func(l *Log) { l.ring[0] = 9 },
		"a disk too many":      func(l *Log) { l.ring[4] = ramdisk.MaxDisks },
		"data without end":     func(l *Log) { l.ring[45] = 1 },
		"half a sector":        func(l *Log) { l.ring[16] = 1 },
		"more than asked":      func(l *Log) { l.ring[26] = 1 },
		"many marks":           func(l *Log) { l.area.setWord(markBytesAt, AreaBytes) },
		"half a mark":          func(l *Log) { l.area.setWord(markBytesAt, 3) },
		"a long mark":          func(l *Log) { l.area.setWord(marksAt+8, 1<<40) },
	} {
		l := newLog(t, 4096)
		l.add(ramdisk.Write, 0, 512, 512, 0, sector("a"))
		if err := l.area.Mark("m"); err != nil {
			t.Fatal(err)
		}
		spoil(l)
		if records, err := l.Take(); err == nil {
			t.Errorf("%s: %+v", name, records)
		}
	}
}

// A rule is there until the rules of its disk are cleared.
func TestRules(t *testing.T) {
	a := make(Area, AreaBytes)
	a.Clear()
	fail := ramdisk.Rule{Action: ramdisk.Fail, Ops: []ramdisk.Op{ramdisk.Write}, Nth: 1, Times: 1,
		Error: uint32(unix.EIO)}
	for i := range rules {
		if err := a.Inject(uint32(i%2), fail); err != nil {
			t.Fatal(err)
		}
	}
	if err := a.Inject(0, fail); !errors.Is(err, unix.ENOSPC) {
		t.Errorf("one more: %v", err)
	}
	a.ClearRules(1)
	if got := slices.Collect(func(yield func(bool) bool) {
		for i := range rules {
			yield(a.free(i))
		}
	}); slices.Contains(got[:1], true) || !got[1] {
		t.Errorf("%v", got)
	}
	if err := a.Inject(1, fail); err != nil {
		t.Error(err)
	}
	tear := fail
	tear.Action = ramdisk.Tear
	if err := a.Inject(0, tear); !errors.Is(err, unix.ENOSYS) {
		t.Errorf("torn: %v", err)
	}
	fail.Nth = 0
	if err := a.Inject(0, fail); !errors.Is(err, unix.EINVAL) {
		t.Errorf("the bio 0: %v", err)
	}
}

// The area is the end of its file.
func TestOpenArea(t *testing.T) {
	path := filepath.Join(t.TempDir(), "area")
	if err := os.WriteFile(path, make([]byte, 4096+AreaBytes), 0o600); err != nil {
		t.Fatal(err)
	}
	a, err := OpenArea(path)
	if err != nil {
		t.Fatal(err)
	}
	a.Clear()
	a.SetLogged(2, true)
	a.SetLogged(3, true)
	a.SetLogged(3, false)
	if err := a.Close(); err != nil {
		t.Fatal(err)
	}
	b, err := os.ReadFile(path)
	if err != nil || Area(b[4096:]).word(0) != abi || Area(b[4096:]).word(loggedAt) != 1<<2 {
		t.Errorf("%x, %v", b[4096:4112], err)
	}
	if _, err := OpenArea(path + "x"); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("a missing file: %v", err)
	}
}

// FuzzLog checks that a hostile guest, which can write the ring and the area, cannot make Take fail
// in another way than by an error.
func FuzzLog(f *testing.F) {
	l := newLog(f, 4096)
	l.add(ramdisk.Write, 0, 512, 512, 0, sector("a"))
	l.add(ramdisk.Flush, 0, 0, 0, 0, "")
	f.Add(slices.Clone(l.ring), uint64(0), l.area.word(writtenAt), []byte{})
	f.Add(slices.Clone(l.ring), uint64(0), uint64(1<<63), []byte{1, 0, 0, 0, 0, 0, 0, 0, 9})
	f.Fuzz(func(t *testing.T, ring []byte, taken, written uint64, marks []byte) {
		if len(ring) <= entryBytes || len(marks) > AreaBytes-marksAt {
			t.Skip("no ring")
		}
		l := &Log{area: make(Area, AreaBytes), ring: ring}
		l.area.setWord(takenAt, taken)
		l.area.setWord(writtenAt, written)
		copy(l.area[marksAt:], marks)
		l.area.setWord(markBytesAt, uint64(len(marks)))
		records, err := l.Take()
		if err != nil {
			return
		}
		for _, r := range records {
			if len(r.Data) > len(ring)+len(marks) {
				t.Errorf("%+v", r)
			}
		}
	})
}
