package blocktap

import (
	"context"
	"errors"
	"testing"
)

// A delayer delays the write at sector 1 until the write at sector 0 was handled. seen are the
// offsets of the writes in the order in which they were handled.
type delayer struct {
	waiting, handled chan struct{}
	seen             []uint64
}

func (d *delayer) Delay(ctx context.Context, r *Request, meanwhile func(f func())) {
	if r.Off == 0 {
		return
	}
	meanwhile(func() {
		close(d.waiting)
		select {
		case <-d.handled:
		case <-ctx.Done():
		}
	})
}

func (d *delayer) Handle(_ context.Context, r *Request, do func() error) error {
	d.seen = append(d.seen, r.Off)
	if r.Off == 0 {
		close(d.handled)
	}
	return do()
}

// TestDelayedChange checks that other changes are performed while one is delayed, that the delayed
// one is recorded when it is performed, and that it is not performed if its connection is cut.
func TestDelayedChange(t *testing.T) {
	for _, cut := range []bool{false, true} {
		hook := &delayer{waiting: make(chan struct{}), handled: make(chan struct{})}
		disk := open(t, sparseFile(t, 1<<20, 0, nil), FileOptions{})
		device := NewDevice(disk, hook)
		var log undoRecorder
		device.Record(&log)
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan error)
		go func() { done <- device.Do(ctx, sectorWrite(1)) }()
		<-hook.waiting
		want := 2
		if cut {
			cancel()
			want = 0
		} else if err := device.Do(t.Context(), sectorWrite(0)); err != nil {
			t.Error(err)
		}
		err := <-done
		if cut != errors.Is(err, context.Canceled) || !cut && err != nil {
			t.Errorf("the delayed write: %v", err)
		}
		if len(hook.seen) != want || want > 0 && hook.seen[1] != 512 || len(log) != want {
			t.Errorf("handled %v, recorded %v", hook.seen, log)
		}
		cancel()
	}
}

func sectorWrite(sector uint64) *Request {
	return &Request{Op: OpWrite, Off: sector * 512, Len: 512,
		Data: make([]byte, 512)}
}
