package ramdisk

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"fsward/blocktap/trace"
)

// encode writes a record as the module does.
func encode(r Record) []byte {
	b := make([]byte, recordSize, recordSize+len(r.Data)+8)
	le.PutUint64(b[0:], r.Seq)
	le.PutUint64(b[8:], uint64(r.Time))
	le.PutUint64(b[16:], r.ID)
	le.PutUint64(b[24:], r.Sector)
	le.PutUint64(b[32:], r.Len)
	le.PutUint64(b[40:], r.Done)
	le.PutUint32(b[48:], uint32(len(r.Data)))
	le.PutUint16(b[52:], uint16(r.Type))
	le.PutUint16(b[54:], uint16(r.Op))
	le.PutUint32(b[56:], uint32(r.Flags))
	le.PutUint32(b[60:], r.Disk)
	le.PutUint32(b[64:], uint32(-int32(r.Status)))
	le.PutUint32(b[68:], uint32(r.Injected))
	le.PutUint32(b[72:], r.PID)
	le.PutUint32(b[76:], r.TGID)
	copy(b[80:95], r.Comm)
	b = append(b, r.Data...)
	return append(b, make([]byte, -len(b)&7)...)
}

func stream(records ...Record) []byte {
	var b []byte
	for _, r := range records {
		b = append(b, encode(r)...)
	}
	return b
}

func sectors(n int, with byte) []byte { return bytes.Repeat([]byte{with}, n*SectorSize) }

// example begins with two writes. The first has a preflush. The second completes first, and is
// torn. Other bios follow, with and without injected failures.
func example() []Record {
	return []Record{
		{
			Seq: 1, ID: 1, Type: Submit, Op: Write, Flags: Preflush | FUA | Meta,
			Sector: 8, Len: 1024, Data: sectors(2, 1), Comm: "jbd2",
		},
		{Seq: 2, ID: 2, Type: Submit, Op: Write, Flags: FUA, Len: 1024, Data: sectors(2, 2)},
		{Seq: 3, ID: 2, Type: Complete, Op: Write, Len: 1024, Done: 512, Injected: 1 << Tear},
		{Seq: 4, Type: Mark, Data: []byte("here")},
		{Seq: 5, ID: 1, Type: Complete, Op: Write, Sector: 8, Len: 1024, Done: 1024},
		{Seq: 6, ID: 3, Type: Submit, Op: Discard, Sector: 16, Len: 4096},
		{Seq: 7, ID: 3, Type: Complete, Op: Discard, Sector: 16, Len: 4096, Done: 4096},
		{Seq: 8, ID: 4, Type: Submit, Op: Flush, Flags: Preflush},
		{Seq: 9, ID: 4, Type: Complete, Op: Flush, Injected: 1 << DropFlush},
		{Seq: 10, ID: 5, Type: Submit, Op: Flush, Flags: Preflush},
		{Seq: 11, ID: 5, Type: Complete, Op: Flush, Status: unix.EIO, Injected: 1 << Fail},
		{Seq: 12, ID: 6, Type: Submit, Op: Zeroes, Sector: 24, Len: 512},
		{Seq: 13, ID: 6, Type: Complete, Op: Zeroes, Sector: 24, Len: 512, Status: unix.EIO},
		{Seq: 14, ID: 7, Type: Submit, Op: Read, Sector: 24, Len: 512},
		{Seq: 15, ID: 7, Type: Complete, Op: Read, Sector: 24, Len: 512, Done: 512},
		{Seq: 16, ID: 8, Type: Submit, Op: Flush, Flags: Preflush},
		{Seq: 17, ID: 8, Type: Complete, Op: Flush},
	}
}

// memory is a file in memory.
type memory struct{ b []byte }

func (m *memory) WriteAt(p []byte, off int64) (int, error) {
	if need := int(off) + len(p); need > len(m.b) {
		m.b = append(m.b, make([]byte, need-len(m.b))...)
	}
	return copy(m.b[off:], p), nil
}

// convert converts a stream to a dm-log-writes log, and returns the entries of the log as text.
func convert(b []byte) (entries []string, err error) {
	var m memory
	w, err := trace.NewWriter(&m)
	if err != nil {
		return nil, err
	}
	conv := NewConverter(map[uint32]*trace.Writer{0: w})
	r := NewReader(bytes.NewReader(b))
	for {
		rec, e := r.Next()
		if errors.Is(e, io.EOF) {
			break
		}
		if e == nil {
			e = conv.Add(rec)
		}
		if e != nil {
			err = e
			break
		}
	}
	log, e := trace.NewReader(bytes.NewReader(m.b))
	if e != nil {
		return nil, e
	}
	for {
		e, end := log.Next()
		if errors.Is(end, io.EOF) {
			return entries, err
		}
		if end != nil {
			return nil, end
		}
		s := fmt.Sprintf("%s %d+%d %s", e.Flags, e.Off, e.Len, e.Mark)
		if len(e.Data) > 0 {
			s += fmt.Sprint(e.Data[0])
		}
		entries = append(entries, strings.TrimSpace(s))
	}
}

// TestConvert checks that exactly what reached the disk is converted, in the order of completion.
func TestConvert(t *testing.T) {
	got, err := convert(stream(example()...))
	if err != nil {
		t.Fatal(err)
	}
	want := []string{
		"0+512 2",
		"mark 0+0 here",
		"flush 0+0",
		"fua|metadata 4096+1024 1",
		"discard 8192+4096",
		"flush 0+0",
	}
	if strings.Join(got, "\n") != strings.Join(want, "\n") {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

// TestConvertIncomplete checks that a log that lacks changes is an error.
func TestConvertIncomplete(t *testing.T) {
	for name, r := range map[string]Record{
		"lost":    {Seq: 9, Type: Lost, Len: 9},
		"restore": {Seq: 1, Type: Restore, Data: []byte("s")},
		"patch":   {Seq: 1, Type: Patch, Len: PageSize, Data: sectors(8, 1)},
		"middle":  {Seq: 1, ID: 1, Type: Complete, Op: Write, Len: 512, Done: 512},
	} {
		if _, err := convert(stream(r)); !errors.Is(err, ErrIncomplete) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestReaderErrors checks that records which the module cannot have written are errors, that errors
// are final, and that a cut stream is an error.
func TestReaderErrors(t *testing.T) {
	first := example()[0]
	for name, change := range map[string]func(r *Record){
		"type":      func(r *Record) { r.Type = 8 },
		"no type":   func(r *Record) { r.Type = 0 },
		"gap":       func(r *Record) { r.Seq = 3 },
		"again":     func(r *Record) { r.Seq = 1 },
		"disk":      func(r *Record) { r.Disk = MaxDisks },
		"sector":    func(r *Record) { r.Sector = 1 << 60 },
		"end":       func(r *Record) { r.Sector = MaxBytes / SectorSize },
		"long":      func(r *Record) { r.Len = 1 << 32 },
		"done":      func(r *Record) { r.Done = 2048 },
		"data":      func(r *Record) { r.Data = r.Data[:512] },
		"half":      func(r *Record) { r.Len, r.Data = 100, r.Data[:100] },
		"none lost": func(r *Record) { *r = Record{Seq: 2, Type: Lost} },
	} {
		r := first
		r.Seq = 2
		change(&r)
		reader := NewReader(bytes.NewReader(stream(first, r)))
		if _, err := reader.Next(); err != nil {
			t.Fatal(err)
		}
		rec, err := reader.Next()
		if err == nil || errors.Is(err, io.EOF) {
			t.Errorf("%s: %+v, %v", name, rec, err)
		}
		if _, again := reader.Next(); again == nil || again.Error() != err.Error() {
			t.Errorf("%s: then %v", name, again)
		}
	}
	whole := stream(first)
	for n := range whole {
		want := io.ErrUnexpectedEOF
		if n == 0 {
			want = io.EOF
		}
		if _, err := NewReader(bytes.NewReader(whole[:n])).Next(); !errors.Is(err, want) {
			t.Fatalf("cut at %d: %v", n, err)
		}
	}
}

// TestReader reads a log that begins after lost records.
func TestReader(t *testing.T) {
	records := append([]Record{{Seq: 40, Type: Lost, Len: 40}}, example()...)
	for i := range records[1:] {
		records[i+1].Seq += 40
	}
	r := NewReader(bytes.NewReader(stream(records...)))
	for _, want := range records {
		got, err := r.Next()
		if err != nil {
			t.Fatal(err)
		}
		if fmt.Sprint(*got) != fmt.Sprint(want) {
			t.Errorf("got %v\nwant %v", *got, want)
		}
	}
	if _, err := r.Next(); !errors.Is(err, io.EOF) {
		t.Error(err)
	}
}

// TestFlushBelowZero: device-mapper gives a flush any sector.
func TestFlushBelowZero(t *testing.T) {
	flush := Record{Seq: 1, ID: 1, Type: Submit, Op: Write, Flags: Preflush,
		Sector: ^uint64(0) - 14335}
	done := flush
	done.Seq, done.Type = 2, Complete
	r := NewReader(bytes.NewReader(stream(flush, done)))
	for range 2 {
		if rec, err := r.Next(); err != nil || rec.Sector != 0 || rec.Flags != Preflush {
			t.Errorf("%+v, %v", rec, err)
		}
	}
	flush.Len, flush.Data = SectorSize, make([]byte, SectorSize)
	if _, err := NewReader(bytes.NewReader(stream(flush))).Next(); err == nil {
		t.Error("a write below 0 is read")
	}
}

// discard is a file that keeps nothing.
type discard struct{}

func (discard) WriteAt(p []byte, _ int64) (int, error) { return len(p), nil }

// FuzzReader checks that any bytes give records or an error.
func FuzzReader(f *testing.F) {
	f.Add(stream(example()...))
	f.Add(stream(Record{Seq: 9, Type: Lost, Len: 9}))
	f.Fuzz(func(t *testing.T, b []byte) {
		r := NewReader(bytes.NewReader(b))
		w, err := trace.NewWriter(discard{})
		if err != nil {
			t.Fatal(err)
		}
		conv := NewConverter(map[uint32]*trace.Writer{0: w})
		n := 0
		for {
			rec, err := r.Next()
			if err != nil {
				break
			}
			n++
			_ = conv.Add(rec)
		}
		if n > len(b)/recordSize {
			t.Errorf("%d records in %d bytes", n, len(b))
		}
	})
}
