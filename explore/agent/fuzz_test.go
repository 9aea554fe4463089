package agent

import (
	"bytes"
	"errors"
	"io"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"fsward/explore/ramdisk"
)

// seedBatch returns a batch with operations of several shapes.
func seedBatch() *Batch {
	rule := ramdisk.Rule{Action: ramdisk.Fail, Ops: []ramdisk.Op{ramdisk.Write}, Error: 5,
		Nth: 2, Times: 3, Arg: 4}
	return &Batch{StopAtError: true, Cover: true, Timeout: time.Second, Ops: []Op{
		Mkdir("/a", 0o700),
		Rename("/a", "/b", 1),
		Setxattr("/b", "user.x", []byte("v"), 0),
		DiskInject(3, rule),
		DiskGuard(3, true),
		DiskAnswer(3, 1<<40, unix.EIO),
	}}
}

// FuzzPayload checks that the decoders accept any bytes, keep to their bounds, and decode the same
// value from its encoding.
func FuzzPayload(f *testing.F) {
	c := Command{Args: []string{"a", "b"}, Env: []string{"c"}, Dir: "/", Stdin: []byte("d"),
		Timeout: time.Minute, Faults: &Faults{At: []uint32{3}, Threads: []uint32{7}}}
	f.Add(c.encode())
	f.Add(seedBatch().encode())
	e := Exit{Code: 1, Stdout: []byte("x"), Kernel: "y"}
	f.Add(e.encode())
	d := Done{TimedOut: true, Took: 5, Results: []Result{{Errno: 2, Value: 3, Data: []byte("z")}},
		Coverage: &Coverage{Edges: []Edge{EdgeOf(0, 7), EdgeOf(7, 9)}, Cut: true}}
	f.Add(d.encode())
	h := Hello{"6.1", "id", 1}
	f.Add(h.encode())
	entry := Entry{Path: ".", Mode: 1, Target: "t"}
	f.Add(entry.append(nil))
	f.Add(append(make([]byte, 8), make([]byte, ramdisk.PageSize)...))
	f.Fuzz(func(t *testing.T, b []byte) {
		roundTrip(t, b, decodeCommand, (*Command).encode)
		roundTrip(t, b, decodeBatch, (*Batch).encode)
		roundTrip(t, b, decodeExit, (*Exit).encode)
		roundTrip(t, b, decodeDone, (*Done).encode)
		roundTrip(t, b, decodeHello, (*Hello).encode)
		roundTrip(t, b, decodeLogRequest, (*logRequest).encode)
		if batch, err := decodeBatch(b); err == nil {
			for i := range batch.Ops {
				_, _ = batch.Ops[i].rule()
			}
		}
		if list, err := DecodeTree(b); err == nil && len(list) > MaxEntries {
			t.Errorf("DecodeTree returns %d entries", len(list))
		}
		if list, err := DecodePages(b); err == nil && len(list) > MaxPages {
			t.Errorf("DecodePages returns %d pages", len(list))
		}
		_, _ = DecodeNumbers(b)
		if list, err := DecodeChoices(b); err == nil && len(list) > maxChosen {
			t.Errorf("DecodeChoices returns %d choices", len(list))
		}
		if list, err := DecodeFindings(b); err == nil && len(list) > maxFound {
			t.Errorf("DecodeFindings returns %d findings", len(list))
		}
		_, _ = decodeLoadChoices(&Op{Code: opLoadChoices, data: b})
	})
}

// roundTrip decodes b, and checks that the encoding of the value decodes to the same value. It does
// not compare with b, because a number has more than one encoding.
func roundTrip[V any](t *testing.T, b []byte, decode func([]byte) (V, error),
	encode func(*V) []byte) {
	t.Helper()
	v, err := decode(b)
	if err != nil {
		return
	}
	first := encode(&v)
	w, err := decode(first)
	if err != nil {
		t.Fatalf("the encoding of a %T does not decode: %v", v, err)
	}
	if second := encode(&w); !bytes.Equal(first, second) {
		t.Fatalf("a %T changed in a round trip:\n%x\n%x", v, first, second)
	}
}

// FuzzFrames checks that the frames of any stream fit into the stream, and that reading ends.
func FuzzFrames(f *testing.F) {
	fr := frame{kind: kindDo, id: 7, payload: seedBatch().encode()}
	whole := fr.encode()
	f.Add(whole)
	f.Add(append(whole[:len(whole)-1:len(whole)-1], whole...))
	f.Add(append([]byte("FSWA"), whole...))
	f.Fuzz(func(t *testing.T, b []byte) {
		r := newFrameReader(bytes.NewReader(b))
		total := 0
		for {
			got, err := r.next()
			if err != nil {
				if !errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF) &&
					!errors.Is(err, ErrVersion) {
					t.Errorf("unexpected error: %v", err)
				}
				break
			}
			if total += headerSize + len(got.payload); total > len(b) {
				t.Fatalf("frames of %d bytes in a stream of %d", total, len(b))
			}
		}
	})
}

// TestFrameAfterRubbish checks that the reader finds a frame after other bytes, and reports a frame
// of another version.
func TestFrameAfterRubbish(t *testing.T) {
	f := frame{kind: kindDo, id: 7, payload: []byte("payload")}
	whole := f.encode()
	stream := append(append([]byte("rubbish"), whole[5:]...), whole...)
	got, err := newFrameReader(bytes.NewReader(stream)).next()
	if err != nil || got.kind != f.kind || got.id != f.id || !bytes.Equal(got.payload, f.payload) {
		t.Errorf("%+v, %v", got, err)
	}
	whole[4]++ // the version; the checksum below fits it
	other := whole[:20:20]
	other = le.AppendUint32(other, crcOf(other))
	if _, err := newFrameReader(bytes.NewReader(other)).next(); !errors.Is(err, ErrVersion) {
		t.Errorf("another version: %v", err)
	}
}
