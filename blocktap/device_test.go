package blocktap

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"
)

type hookFunc func(r *Request, do func() error) error

func (h hookFunc) Handle(_ context.Context, r *Request, do func() error) error { return h(r, do) }

type recorderFunc func(r *Request) error

func (f recorderFunc) Log(r *Request) error { return f(r) }

func TestDeviceChecksRequests(t *testing.T) {
	disk := open(t, sparseFile(t, 1<<20, 0, nil), FileOptions{})
	dev := NewDevice(disk, hookFunc(func(r *Request, do func() error) error {
		t.Errorf("the hook was called with %+v", r)
		return do()
	}))
	for _, c := range []struct {
		r    Request
		want error
	}{
		{Request{Op: OpWrite, Off: 1 << 20, Len: 512, Data: make([]byte, 512)}, ErrRange},
		{Request{Op: OpZero, Off: 1<<64 - 512, Len: 1024}, ErrRange},
		{Request{Op: OpWrite, Off: 1, Len: 512, Data: make([]byte, 512)}, ErrUnaligned},
		{Request{Op: OpTrim, Off: 0, Len: 100}, ErrUnaligned},
		{Request{Op: OpWrite, Off: 0, Len: 512}, nil},
		{Request{Op: Op(9)}, nil},
		{Request{}, nil},
	} {
		err := dev.Do(context.Background(), &c.r)
		if err == nil || c.want != nil && !errors.Is(err, c.want) {
			t.Errorf("%+v: %v, want %v", c.r, err, c.want)
		}
	}
}

func TestDeviceOrder(t *testing.T) {
	disk := open(t, sparseFile(t, 1<<20, 0, nil), FileOptions{})
	var seen, recorded []uint64
	refuse := uint64(7)
	dev := NewDevice(disk, hookFunc(func(r *Request, do func() error) error {
		seen = append(seen, r.Seq)
		if r.Seq == refuse {
			return ErrRefused
		}
		return do()
	}))
	dev.Record(recorderFunc(func(r *Request) error {
		recorded = append(recorded, r.Seq)
		return nil
	}))
	var wg sync.WaitGroup
	var mu sync.Mutex
	refused := 0
	for i := range 50 {
		wg.Go(func() {
			err := dev.Do(context.Background(), &Request{
				Op:   OpWrite,
				FUA:  i%8 == 0,
				Off:  uint64(i) * 512,
				Len:  512,
				Data: make([]byte, 512),
			})
			if errors.Is(err, ErrRefused) {
				mu.Lock()
				refused++
				mu.Unlock()
			} else if err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	if refused != 1 || len(seen) != 50 || len(recorded) != 50 {
		t.Fatalf("%d refused, %d seen, %d recorded", refused, len(seen), len(recorded))
	}
	for i := range seen {
		if seen[i] != uint64(i+1) || recorded[i] != seen[i] {
			t.Fatalf("change %d was seen as %d and recorded as %d", i+1, seen[i], recorded[i])
		}
	}
}

func TestDeviceRecorderFails(t *testing.T) {
	full := errors.New("the log is full")
	disk := open(t, sparseFile(t, 1<<20, 0, nil), FileOptions{})
	dev := NewDevice(disk, hookFunc(func(*Request, func() error) error {
		t.Error("the hook was called for a change that could not be recorded")
		return nil
	}))
	dev.Record(recorderFunc(func(*Request) error { return full }))
	for _, r := range []Request{{Op: OpZero, Len: 512}, {Op: OpFlush}} {
		if err := dev.Do(context.Background(), &r); !errors.Is(err, full) {
			t.Errorf("%s: %v", r.Op, err)
		}
	}
}

// undoRecorder keeps a description of each call.
type undoRecorder []string

func (u *undoRecorder) Log(r *Request) error {
	*u = append(*u, fmt.Sprint("log ", r.Seq))
	return nil
}

func (u *undoRecorder) Undone(r *Request) { *u = append(*u, fmt.Sprint("undone ", r.Seq)) }

// TestDeviceUndone checks that the device reports each change that was not performed to the
// recorder before the next change.
func TestDeviceUndone(t *testing.T) {
	disk := open(t, sparseFile(t, 1<<20, 0, nil), FileOptions{})
	dev := NewDevice(disk, hookFunc(func(r *Request, do func() error) error {
		if r.Seq == 2 {
			return ErrRefused
		}
		return do()
	}))
	var seen undoRecorder
	dev.Record(&seen)
	for range 3 {
		err := dev.Do(context.Background(), &Request{Op: OpZero, Len: 512})
		if err != nil && !errors.Is(err, ErrRefused) {
			t.Fatal(err)
		}
	}
	if want := (undoRecorder{"log 1", "log 2", "undone 2", "log 3"}); !slices.Equal(seen, want) {
		t.Errorf("got %q, want %q", seen, want)
	}
}

// flushes is a disk that counts the writes since the last flush, and the flushes.
type flushes struct {
	Disk
	dirty, done int
	err         error // the error of the next flushes
}

func (d *flushes) WriteAt(p []byte, off int64) (int, error) {
	d.dirty++
	return d.Disk.WriteAt(p, off)
}

func (d *flushes) Flush() error {
	if d.err != nil {
		return d.err
	}
	d.dirty = 0
	d.done++
	return d.Disk.Flush()
}

// TestDurable checks that a flush and a write with FUA succeed only after the disk has flushed, and
// that they fail if the disk cannot flush.
func TestDurable(t *testing.T) {
	disk := &flushes{Disk: open(t, sparseFile(t, 1<<20, 0, nil), FileOptions{})}
	dev := NewDevice(disk, nil)
	do := func(r Request) error { return dev.Do(context.Background(), &r) }
	write := Request{Op: OpWrite, Len: 512, Data: make([]byte, 512)}
	fua := write
	fua.FUA = true
	if err := do(write); err != nil || disk.dirty != 1 {
		t.Errorf("write: %v, %d dirty", err, disk.dirty)
	}
	if err := do(Request{Op: OpFlush}); err != nil || disk.dirty != 0 {
		t.Errorf("flush: %v, %d dirty", err, disk.dirty)
	}
	if err := do(fua); err != nil || disk.dirty != 0 || disk.done != 2 {
		t.Errorf("FUA: %v, %d dirty, %d flushes", err, disk.dirty, disk.done)
	}
	disk.err = errors.New("the medium is gone")
	for _, r := range []Request{
		fua,
		{Op: OpFlush},
		{Op: OpZero, Len: 512, FUA: true},
		{Op: OpTrim, Len: 512, FUA: true},
	} {
		if err := do(r); !errors.Is(err, disk.err) {
			t.Errorf("%s returned %v, want the error of the flush", r.Op, err)
		}
	}
}

// flushHook records its calls.
type flushHook struct {
	flushing int
	flushed  []uint64
}

func (h *flushHook) Handle(_ context.Context, _ *Request, do func() error) error { return do() }

func (h *flushHook) Flushing() { h.flushing++ }

func (h *flushHook) Flushed(seq uint64) { h.flushed = append(h.flushed, seq) }

// TestFlushHook checks which changes the device reports to the hook as durable. A write with FUA
// makes no other change durable.
func TestFlushHook(t *testing.T) {
	disk := open(t, sparseFile(t, 1<<20, 0, nil), FileOptions{})
	hook := &flushHook{}
	dev := NewDevice(disk, hook)
	do := func(op Op, fua bool) {
		t.Helper()
		r := &Request{Op: op, FUA: fua}
		if op == OpWrite {
			r.Data, r.Len = make([]byte, 512), 512
		}
		if err := dev.Do(context.Background(), r); err != nil {
			t.Fatal(err)
		}
	}
	do(OpFlush, false)
	do(OpWrite, false)
	do(OpWrite, false)
	do(OpFlush, false)
	do(OpWrite, true)
	do(OpFlush, false)
	if want := []uint64{0, 2, 3}; !slices.Equal(hook.flushed, want) {
		t.Errorf("Flushed was called with %v, want %v", hook.flushed, want)
	}
}
