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

func seedBatch() *Batch {
	return &Batch{StopAtError: true, Timeout: time.Second, Ops: []Op{Mkdir("/a", 0o700), Rename("/a", "/b", 1), Setxattr("/b", "user.x", []byte("v"), 0),
		DiskInject(3, ramdisk.Rule{Action: ramdisk.Fail, Ops: []ramdisk.Op{ramdisk.Write}, Error: 5, Nth: 2, Times: 3, Arg: 4}),
		DiskGuard(3, true), DiskAnswer(3, 1<<40, unix.EIO)}}
}

// What an agent or a client decodes is a value or an error, and a value that is encoded again is the same.
func FuzzPayload(f *testing.F) {
	c := Command{Args: []string{"a", "b"}, Env: []string{"c"}, Dir: "/", Stdin: []byte("d"), Timeout: time.Minute}
	f.Add(c.encode())
	f.Add(seedBatch().encode())
	e := Exit{Code: 1, Stdout: []byte("x"), Kernel: "y"}
	f.Add(e.encode())
	d := Done{TimedOut: true, Took: 5, Results: []Result{{Errno: 2, Value: 3, Data: []byte("z")}}}
	f.Add(d.encode())
	h := Hello{"6.1", "id", 1}
	f.Add(h.encode())
	entry := Entry{Path: ".", Mode: 1, Target: "t"}
	f.Add(entry.append(nil))
	f.Add(append(make([]byte, 8), make([]byte, ramdisk.PageSize)...))
	f.Fuzz(func(t *testing.T, b []byte) {
		again(t, b, decodeCommand, func(v *Command) []byte { return v.encode() })
		again(t, b, decodeBatch, func(v *Batch) []byte { return v.encode() })
		again(t, b, decodeExit, func(v *Exit) []byte { return v.encode() })
		again(t, b, decodeDone, func(v *Done) []byte { return v.encode() })
		again(t, b, decodeHello, func(v *Hello) []byte { return v.encode() })
		again(t, b, decodeLogRequest, func(v *logRequest) []byte { return v.encode() })
		if batch, err := decodeBatch(b); err == nil {
			for i := range batch.Ops {
				_, _ = batch.Ops[i].rule()
			}
		}
		if list, err := DecodeTree(b); err == nil && len(list) > MaxEntries {
			t.Errorf("%d entries", len(list))
		}
		if list, err := DecodePages(b); err == nil && len(list) > MaxPages {
			t.Errorf("%d pages", len(list))
		}
		_, _ = DecodeNumbers(b)
	})
}

// again holds a decoder and its encoder against each other. Numbers have more than one form, so that values are compared.
func again[V any](t *testing.T, b []byte, decode func([]byte) (V, error), encode func(*V) []byte) {
	t.Helper()
	v, err := decode(b)
	if err != nil {
		return
	}
	first := encode(&v)
	w, err := decode(first)
	if err != nil {
		t.Fatalf("%T does not decode again: %v", v, err)
	}
	if second := encode(&w); !bytes.Equal(first, second) {
		t.Fatalf("%T is another one after a second time:\n%x\n%x", v, first, second)
	}
}

// A stream of any bytes gives frames with payloads that it holds, or ends; a frame after it is found.
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
				if !errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF) && !errors.Is(err, ErrVersion) {
					t.Errorf("%v", err)
				}
				break
			}
			if total += headerSize + len(got.payload); total > len(b) {
				t.Fatalf("frames of %d bytes in a stream of %d", total, len(b))
			}
		}
	})
}

func TestFrameAfterRubbish(t *testing.T) {
	f := frame{kind: kindDo, id: 7, payload: []byte("payload")}
	whole := f.encode()
	stream := append(append([]byte("rubbish"), whole[5:]...), whole...)
	got, err := newFrameReader(bytes.NewReader(stream)).next()
	if err != nil || got.kind != f.kind || got.id != f.id || !bytes.Equal(got.payload, f.payload) {
		t.Errorf("%+v, %v", got, err)
	}
	whole[4]++ // the version, with a sum that is true
	other := whole[:20:20]
	other = le.AppendUint32(other, crcOf(other))
	if _, err := newFrameReader(bytes.NewReader(other)).next(); !errors.Is(err, ErrVersion) {
		t.Errorf("another version: %v", err)
	}
}
