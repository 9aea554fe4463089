package ekm

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"testing"
)

// encode writes a record as the module does.
func encode(r Record) []byte {
	data := r.Data
	if r.Call != nil {
		data = encodeCall(r.Call)
	}
	b := make([]byte, recordSize, recordSize+len(data)+8)
	for i, v := range []uint64{r.Seq, uint64(r.Time), r.Object, r.Ino, r.Pos, r.Len, r.PFN} {
		le.PutUint64(b[8*i:], v)
	}
	for i, v := range []uint32{
		r.PageOff, uint32(len(data)), uint32(r.Type), r.Flags,
		r.Dev, uint32(r.Status), r.PID, r.TGID,
	} {
		le.PutUint32(b[56+4*i:], v)
	}
	copy(b[88:103], r.Comm)
	le.PutUint64(b[104:], r.DiskSeq)
	b = append(b, data...)
	return append(b, make([]byte, -len(b)&7)...)
}

func encodeCall(s *SystemInfo) []byte {
	b := make([]byte, syscallSize)
	for i, v := range s.Args {
		le.PutUint64(b[8*i:], v)
	}
	le.PutUint64(b[48:], uint64(s.Result))
	copy(b[64:79], s.Name)
	for i, p := range s.Paths {
		if p != "" {
			le.PutUint32(b[56+4*i:], uint32(len(p)+1))
			b = append(append(b, p...), 0)
		}
	}
	return b
}

func stream(records ...Record) (b []byte) {
	for _, r := range records {
		b = append(b, encode(r)...)
	}
	return b
}

// example has records of many types, with consecutive numbers.
func example() []Record {
	page := bytes.Repeat([]byte{7}, 4096)
	rename := &SystemInfo{
		Name:   "renameat",
		Args:   [6]uint64{1, 2, 3},
		Result: -2,
		Paths:  [2]string{"a", "b"},
	}
	return []Record{
		{Seq: 1, Type: Mark, Data: []byte("here")},
		{
			Seq: 2, Type: BufferDirty, Object: 0xffff888000000000, Pos: 8192, Len: 1024,
			PFN: 5, PageOff: 1024, Flags: WasDirty, Dev: 259 << 20,
			PID: 7, TGID: 7, Comm: "mkdir", Data: page[:1024],
		},
		{Seq: 3, Type: BufferUnlock, Pos: 8192, Len: 1024},
		{Seq: 4, Type: FolioDirty, Ino: 12, Pos: 4096, Len: 4096, Data: page},
		{Seq: 5, Type: BioSubmit, Pos: 8192, Len: 4096, Flags: 2 | 8<<8},
		{Seq: 6, Type: BioData, Pos: 8192, Len: 4096, Data: page},
		{Seq: 7, Type: BioEnd, Pos: 12288, Status: -5},
		{
			Seq: 8, Type: Chosen, Pos: 3, Len: 2, Status: 1, Flags: uint32(Slab),
			Data: []byte("ext4_alloc_inode+0x1f"),
		},
		{Seq: 9, Type: SystemCallData, Object: 1, Len: 5, Data: []byte("hello")},
		{Seq: 10, Type: SystemCall, Object: 1, Pos: 8, Call: rename},
		{Seq: 11, Type: SystemCall, Object: 2, Call: &SystemInfo{Name: "fsync"}},
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
		if want.Call != nil {
			if got.Call == nil || *got.Call != *want.Call {
				t.Errorf("got %+v\nwant %+v", got.Call, want.Call)
			}
			want.Data, want.Call = got.Data, got.Call
		}
		if fmt.Sprint(*got) != fmt.Sprint(want) {
			t.Errorf("got %v\nwant %v", *got, want)
		}
	}
	if _, err := r.Next(); !errors.Is(err, io.EOF) {
		t.Error(err)
	}
}

// TestReaderErrors checks that records which the module cannot have written are errors, that errors
// are final, and that a cut stream is an error.
func TestReaderErrors(t *testing.T) {
	first := example()[1]
	first.Seq = 1
	for name, change := range map[string]func(r *Record){
		"type":      func(r *Record) { r.Type = types },
		"no type":   func(r *Record) { r.Type = 0 },
		"gap":       func(r *Record) { r.Seq = 3 },
		"again":     func(r *Record) { r.Seq = 1 },
		"data":      func(r *Record) { r.Data = r.Data[:512] },
		"long":      func(r *Record) { r.Data = make([]byte, MaxData+1); r.Len = MaxData + 1 },
		"folio":     func(r *Record) { r.Type, r.Len = FolioDirty, 8192; r.Data = make([]byte, MaxData) },
		"none":      func(r *Record) { r.Type = BufferUnlock },
		"page":      func(r *Record) { r.PageOff = 4096 },
		"none lost": func(r *Record) { *r = Record{Seq: 2, Type: Lost} },
		"mark":      func(r *Record) { r.Type, r.Data = Mark, nil },
		"choice":    func(r *Record) { *r = Record{Seq: 2, Type: Chosen, Len: 2, Status: 2} },
		"point":     func(r *Record) { *r = Record{Seq: 2, Type: Chosen, Len: 2, Flags: uint32(points)} },
		"call":      func(r *Record) { r.Type, r.Data = SystemCall, make([]byte, syscallSize-1) },
		"rest":      func(r *Record) { r.Type, r.Data = SystemCall, make([]byte, syscallSize+1) },
		"path": func(r *Record) {
			r.Type, r.Data = SystemCall, make([]byte, syscallSize+2)
			r.Data[56], r.Data[syscallSize+1] = 2, 'x'
		},
		"path's end": func(r *Record) {
			r.Type, r.Data = SystemCall, make([]byte, syscallSize)
			le.PutUint32(r.Data[60:], 1<<31)
		},
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
			continue
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

// FuzzReader checks that any bytes give records or an error.
func FuzzReader(f *testing.F) {
	f.Add(stream(example()...))
	f.Add(stream(Record{Seq: 9, Type: Lost, Len: 9}))
	f.Fuzz(func(t *testing.T, b []byte) {
		r := NewReader(bytes.NewReader(b))
		n := 0
		for {
			if _, err := r.Next(); err != nil {
				break
			}
			n++
		}
		if n > len(b)/recordSize {
			t.Errorf("%d records in %d bytes", n, len(b))
		}
	})
}

// FuzzAnswers checks that any answer of the module gives valid items or an error.
func FuzzAnswers(f *testing.F) {
	f.Add(make([]byte, takenSize))
	f.Add([]byte{0, 0, 0, 0, 255, 255, 255, 255})
	f.Fuzz(func(t *testing.T, b []byte) {
		if len(b) < 8 {
			return
		}
		choices, err := list(b, choiceSize, func(b []byte) (Choice, error) {
			return decodeChoice((*[choiceSize]byte)(b))
		})
		for _, c := range choices {
			if err != nil || c.Value >= c.Bound {
				t.Errorf("%+v, %v", c, err)
			}
		}
		sites, err := list(b, siteSize, func(b []byte) (Site, error) {
			return decodeSite((*[siteSize]byte)(b))
		})
		for _, s := range sites {
			if err != nil || s.Failed > s.Hits {
				t.Errorf("%+v, %v", s, err)
			}
		}
		threads, _ := list(b, threadSize, func(b []byte) (Thread, error) {
			return decodeThread((*[threadSize]byte)(b)), nil
		})
		ran, _ := list(b, unscheduledSize, func(b []byte) (Unscheduled, error) {
			return decodeUnscheduled((*[unscheduledSize]byte)(b)), nil
		})
		if len(threads)*threadSize > len(b) || len(ran)*unscheduledSize > len(b) {
			t.Errorf("%d threads and %d unscheduled ones in %d bytes", len(threads), len(ran), len(b))
		}
	})
}

// TestServing checks which threads serve a file system on vdb: a worker that caused events, the
// journal thread, and a new rescuer.
func TestServing(t *testing.T) {
	before := []Thread{
		{PID: 2, Comm: "kthreadd"},
		{PID: 5, Comm: "kworker/0:1", Worker: true, Events: 3},
		{PID: 6, Comm: "jbd2/vda-8"},
	}
	now := []Thread{
		{PID: 2, Comm: "kthreadd"},
		{PID: 5, Comm: "kworker/0:1", Worker: true, Events: 4},
		{PID: 6, Comm: "jbd2/vda-8"},
		{PID: 7, Comm: "jbd2/vdb-8"},
		{PID: 8, Comm: "kworker/0:2", Worker: true},
		{PID: 9, Comm: "ext4-rsv-conver", Worker: true, Rescuer: true},
	}
	var got []uint32
	for _, s := range Serving(before, now, "vdb") {
		got = append(got, s.PID)
	}
	if fmt.Sprint(got) != "[5 7 9]" {
		t.Errorf("got %v", got)
	}
}
