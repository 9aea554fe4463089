package trace

import (
	"bytes"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"io"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"fsward/blocktap"
)

// memory is a file in memory.
type memory struct{ b []byte }

func (m *memory) WriteAt(p []byte, off int64) (int, error) {
	if need := int(off) + len(p); need > len(m.b) {
		m.b = append(m.b, make([]byte, need-len(m.b))...)
	}
	return copy(m.b[off:], p), nil
}

func sectors(n int, fill byte) []byte { return bytes.Repeat([]byte{fill}, n*512) }

// record begins a log in w and records requests.
func record(t testing.TB, w io.WriterAt, requests ...*blocktap.Request) *Writer {
	t.Helper()
	l, err := NewWriter(w)
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range requests {
		if err := l.Log(r); err != nil {
			t.Fatal(err)
		}
	}
	return l
}

// TestWriterGolden compares the output of a Writer with bytes that were made by hand from the
// kernel's structures.
func TestWriterGolden(t *testing.T) {
	var m memory
	l := record(t, &m,
		&blocktap.Request{
			Op: blocktap.OpWrite, Off: 65536, Len: 512, FUA: true, Data: sectors(1, 0xaa),
		},
		&blocktap.Request{Op: blocktap.OpFlush},
		&blocktap.Request{Op: blocktap.OpRead, Off: 0, Len: 512, Data: sectors(1, 0)},
		&blocktap.Request{Op: blocktap.OpTrim, Off: 1 << 20, Len: 1 << 20},
		&blocktap.Request{Op: blocktap.OpZero, Off: 512, Len: 512},
		&blocktap.Request{Op: blocktap.OpZero, Off: 512, Len: 0},
	)
	if err := l.Mark("here"); err != nil {
		t.Fatal(err)
	}
	sector := func(words string, tail ...byte) []byte {
		b, err := hex.DecodeString(strings.ReplaceAll(words, " ", ""))
		if err != nil {
			t.Fatal(err)
		}
		b = append(b, tail...)
		return append(b, make([]byte, 512-len(b))...)
	}
	want := bytes.Join([][]byte{
		//      magic            version          nr_entries       sectorsize
		sector("7268737766736a00 0100000000000000 0500000000000000 00020000"),
		//      sector           nr_sectors       flags            data_len
		sector("8000000000000000 0100000000000000 0200000000000000 0000000000000000"), sectors(1, 0xaa),
		sector("0000000000000000 0000000000000000 0100000000000000 0000000000000000"),
		sector("0008000000000000 0008000000000000 0400000000000000 0000000000000000"),
		sector("0100000000000000 0100000000000000 0000000000000000 0000000000000000"), sectors(1, 0),
		sector("0000000000000000 0000000000000000 0800000000000000 0400000000000000",
			[]byte("here")...),
	}, nil)
	if !bytes.Equal(m.b, want) {
		t.Errorf("got\n%swant\n%s", hex.Dump(m.b), hex.Dump(want))
	}
}

// TestRoundTrip checks that a Reader returns what a Writer has recorded, long writes in pieces.
func TestRoundTrip(t *testing.T) {
	long := make([]byte, 2*MaxData+4096)
	for i := range long {
		long[i] = byte(i / 512)
	}
	path := filepath.Join(t.TempDir(), "log")
	const off = MaxData - 8192
	recordLong(t, path, off, long)

	r, err := Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	var got []byte
	var zeroed, fua uint64
	for {
		e, err := r.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		switch {
		case e.Index == 0:
			if e.Off != off+uint64(len(got)) || e.Len > MaxData || uint64(len(e.Data)) != e.Len {
				t.Fatalf("piece of %d bytes at %d", e.Len, e.Off)
			}
			if got = append(got, e.Data...); e.Flags&FUA != 0 && len(got) != len(long) {
				t.Error("FUA before the last piece")
			}
		case e.Flags&Mark != 0:
			if e.Mark != "end" {
				t.Errorf("mark %q", e.Mark)
			}
			if _, ok := e.Request(); ok {
				t.Error("Request returned a request for a mark")
			}
		default:
			if e.Off != zeroed {
				t.Fatalf("zeros at %d, want %d", e.Off, zeroed)
			}
			zeroed += e.Len
			if e.Flags&FUA != 0 {
				fua++
			}
		}
	}
	if !bytes.Equal(got, long) || zeroed != 1<<30 || fua != 1 {
		t.Errorf("%d bytes read back, %d zeroed, %d FUA", len(got), zeroed, fua)
	}
}

// recordLong creates a log of a write of long at off, of 1 GiB of zeros and of a mark. It checks
// that the zeros take no space, that Create does not overwrite the log, and that a closed log is
// complete.
func recordLong(t *testing.T, path string, off uint64, long []byte) {
	t.Helper()
	l, err := Create(path)
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range []*blocktap.Request{
		{Op: blocktap.OpWrite, Off: off, Len: uint64(len(long)), FUA: true, Data: long},
		{Op: blocktap.OpZero, Off: 0, Len: 1 << 30, FUA: true},
	} {
		if err := l.Log(r); err != nil {
			t.Fatal(err)
		}
	}
	if err := l.Mark("end"); err != nil {
		t.Fatal(err)
	}
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	var st unix.Stat_t
	if err := unix.Stat(path, &st); err != nil || st.Blocks*512 > 40<<20 {
		t.Errorf("the log takes %d bytes, so that it stores zeros (%v)", st.Blocks*512, err)
	}
	if _, err := Create(path); err == nil || !strings.Contains(err.Error(), path) {
		t.Errorf("Create on an existing log: %v, want an error with its path", err)
	}
	if err := l.Log(&blocktap.Request{Op: blocktap.OpFlush}); err == nil {
		t.Error("a closed log accepted an entry")
	}
}

// failing is a file on which all writes after the first n fail.
type failing struct {
	memory
	n int
}

func (f *failing) WriteAt(p []byte, off int64) (int, error) {
	if f.n--; f.n < 0 {
		return 0, unix.ENOSPC
	}
	return f.memory.WriteAt(p, off)
}

// TestWriterStops fails a Writer at each of its writes. The log has to contain all complete
// entries.
func TestWriterStops(t *testing.T) {
	for n := 1; n < 12; n++ {
		f := &failing{n: n}
		l, err := NewWriter(f)
		if err != nil {
			t.Fatal(err)
		}
		written := 0
		write := blocktap.Request{Op: blocktap.OpWrite, Off: 512, Len: 1024, Data: sectors(2, 1)}
		for l.Log(&write) == nil {
			written++
		}
		if err := l.Log(&blocktap.Request{Op: blocktap.OpFlush}); !errors.Is(err, unix.ENOSPC) {
			t.Fatalf("Log after a failure: %v, want ENOSPC", err)
		}
		r, err := NewReader(bytes.NewReader(f.b))
		if err != nil {
			t.Fatal(err)
		}
		read := 0
		for ; ; read++ {
			if _, err = r.Next(); err != nil {
				break
			}
		}
		if !errors.Is(err, io.EOF) || read != written {
			t.Errorf("%d entries read, %d written: %v", read, written, err)
		}
	}
}

func TestWriterRefuses(t *testing.T) {
	l := record(t, &memory{})
	for _, r := range []*blocktap.Request{
		{Op: blocktap.OpWrite, Off: 100, Len: 512, Data: sectors(1, 0)},
		{Op: blocktap.OpWrite, Off: 512, Len: 512, Data: sectors(2, 0)},
		{Op: blocktap.OpInvalid, Len: 512},
	} {
		if err := l.Log(r); err == nil {
			t.Errorf("%+v was recorded", r)
		}
	}
	if err := l.Mark(strings.Repeat("x", 480)); err == nil {
		t.Error("a mark that does not fit was recorded")
	}
	if l.Entries() != 0 {
		t.Errorf("%d entries", l.Entries())
	}
}

// rawLog builds a log from a superblock and parts, which may be invalid.
func rawLog(nrEntries uint64, sectorSize uint32, parts ...[]byte) []byte {
	b := make([]byte, 512)
	binary.LittleEndian.PutUint64(b, magic)
	binary.LittleEndian.PutUint64(b[8:], version)
	binary.LittleEndian.PutUint64(b[16:], nrEntries)
	binary.LittleEndian.PutUint32(b[24:], sectorSize)
	return append(b, bytes.Join(parts, nil)...)
}

func rawHeader(sector, nr uint64, flags Flags, dataLen uint64) []byte {
	b := make([]byte, 512)
	header{sector, nr, flags, dataLen}.put(b)
	return b
}

// emptyFlush is the header of a flush.
var emptyFlush = rawHeader(0, 0, Flush, 0)

// hostileLogs are invalid logs, and parts of the error that a Reader returns.
var hostileLogs = map[string]struct {
	log  []byte
	want []string
}{
	"empty":         {nil, []string{"superblock", "ends at byte 0"}},
	"short super":   {rawLog(1, 512)[:100], []string{"superblock", "ends at byte 100"}},
	"magic":         {make([]byte, 4096), []string{"superblock", "magic"}},
	"sector size 0": {rawLog(1, 0), []string{"sector size 0"}},
	"sector size":   {rawLog(1, 1<<31), []string{"sector size 2147483648"}},
	"uneven size":   {rawLog(1, 600), []string{"sector size 600"}},
	"huge entry": {
		log:  rawLog(2, 512, emptyFlush, rawHeader(0, 1<<50, 0, 0)),
		want: []string{"entry 1 at byte 1024", "ends at byte 1536"},
	},
	"overflow": {
		log:  rawLog(1, 512, rawHeader(1<<54, 1<<54, 0, 0)),
		want: []string{"entry 0 at byte 512", "no device"},
	},
	"wraps": {
		log:  rawLog(1, 512, rawHeader(1<<63, 1<<63, 0, 0)),
		want: []string{"entry 0 at byte 512", "no device"},
	},
	"huge mark": {
		log:  rawLog(1, 512, rawHeader(0, 0, Mark, 1<<60)),
		want: []string{"entry 0", "mark of 1152921504606846976 bytes"},
	},
	"mark and data": {
		log:  rawLog(1, 512, rawHeader(0, 4, Mark, 4)),
		want: []string{"entry 0", "a mark with 4 sectors"},
	},
	"unknown flags": {
		log:  rawLog(1, 512, rawHeader(0, 1, 1<<40, 0)),
		want: []string{"unknown flags 0x10000000000"},
	},
	"zero entry": {rawLog(1, 512, rawHeader(0, 0, 0, 0)), []string{"neither flush nor mark"}},
	"too few": {
		log:  rawLog(1<<60, 512, emptyFlush, emptyFlush),
		want: []string{"entry 2 at byte 1536", "ends at byte 1536"},
	},
	"truncated entry": {
		log:  rawLog(1, 512, rawHeader(0, 2, 0, 0), make([]byte, 700)),
		want: []string{"entry 0 at byte 512", "ends at byte 1724"},
	},
}

func TestHostileLogs(t *testing.T) {
	for name, c := range hostileLogs {
		t.Run(name, func(t *testing.T) {
			r, err := NewReader(bytes.NewReader(c.log))
			for err == nil {
				_, err = r.Next()
			}
			var format *FormatError
			if !errors.As(err, &format) {
				t.Fatalf("%v", err)
			}
			for _, part := range c.want {
				if !strings.Contains(err.Error(), part) {
					t.Errorf("the error %q does not contain %q", err, part)
				}
			}
			if r != nil {
				if _, again := r.Next(); !errors.Is(again, err) {
					t.Errorf("Next after the error: %v, want the same error", again)
				}
			}
		})
	}
}

// TestOtherSectorSize reads the log of a device with sectors of 4096 bytes. TestKernelLogs reads
// compressed logs.
func TestOtherSectorSize(t *testing.T) {
	b := make([]byte, 3*4096)
	copy(b, rawLog(1, 4096))
	copy(b[4096:], rawHeader(3, 1, FUA|Metadata, 0))
	b[8192] = 7
	r, err := NewReader(bytes.NewReader(b))
	if err != nil {
		t.Fatal(err)
	}
	e, err := r.Next()
	if err != nil || e.Off != 3*4096 || e.Len != 4096 || e.Data[0] != 7 ||
		e.Flags.String() != "fua|metadata" {
		t.Errorf("%+v, %v", e, err)
	}
	if _, err := r.Next(); !errors.Is(err, io.EOF) {
		t.Errorf("at the end: %v", err)
	}
}

func FuzzReader(f *testing.F) {
	var m memory
	record(f, &m,
		&blocktap.Request{Op: blocktap.OpWrite, Off: 512, Len: 1024, Data: sectors(2, 1)},
		&blocktap.Request{Op: blocktap.OpFlush},
		&blocktap.Request{Op: blocktap.OpTrim, Len: 512})
	f.Add(m.b)
	f.Add(rawLog(1, 512, rawHeader(0, 0, Mark, 4)))
	f.Fuzz(func(t *testing.T, b []byte) {
		r, err := NewReader(bytes.NewReader(b))
		if err != nil {
			return
		}
		for {
			e, err := r.Next()
			if err != nil {
				if !errors.Is(err, io.EOF) && !errors.As(err, new(*FormatError)) {
					t.Fatalf("%T: %v", err, err)
				}
				return
			}
			if e.Len > 1<<63-1 || e.Off > 1<<63-1-e.Len || len(e.Data) > len(b) {
				t.Fatalf("%+v of %d bytes", e, len(b))
			}
			if q, ok := e.Request(); ok && q.Op == blocktap.OpWrite && uint64(len(q.Data)) != q.Len {
				t.Fatalf("%+v", q)
			}
		}
	})
}
