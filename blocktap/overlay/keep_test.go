package overlay

import (
	"bytes"
	"errors"
	"io"
	"math/rand/v2"
	"sync"
	"testing"
)

// shared is a base that is written while it is read, a range at a time.
type shared struct {
	mu sync.RWMutex
	b  []byte
}

func (s *shared) Size() uint64 { return uint64(len(s.b)) }

func (s *shared) ReadAt(p []byte, off int64) (int, error) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	return bytes.NewReader(s.b).ReadAt(p, off)
}

func (s *shared) write(p []byte, off uint64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	copy(s.b[off:], p)
}

// An overlay that is told of each write before it is done reads as its base was at the beginning, beside the writes.
func TestKeepWhileTheBaseIsWritten(t *testing.T) {
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	r := rand.New(rand.NewPCG(seed, 0))
	base := &shared{b: random(r, 1<<20+512)}
	clear(base.b[200_000:600_000]) // of which nothing has to be copied
	before := bytes.Clone(base.b)
	d, err := New(base)
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()

	stop, reads := make(chan struct{}), 0
	var reader sync.WaitGroup
	reader.Add(1)
	go func() {
		defer reader.Done()
		r := rand.New(rand.NewPCG(seed, 1))
		for {
			select {
			case <-stop:
				return
			default:
			}
			off := r.Uint64N(d.Size())
			got := make([]byte, r.Uint64N(min(d.Size()-off, 20000))+1)
			if n, err := d.ReadAt(got[:min(uint64(len(got)), d.Size()-off)], int64(off)); err != nil && !errors.Is(err, io.EOF) || !bytes.Equal(got[:n], before[off:off+uint64(n)]) {
				t.Errorf("read at %d: not what the base was (%v)", off, err)
				return
			}
			reads++
		}
	}()
	for step := range 3000 {
		off := r.Uint64N(d.Size())
		b := random(r, int(r.Uint64N(min(d.Size()-off, 1<<(8+step%14)))+1))
		b = b[:min(uint64(len(b)), d.Size()-off)]
		if err := d.Keep(off, uint64(len(b))); err != nil {
			t.Fatal(err)
		}
		base.write(b, off)
	}
	close(stop)
	reader.Wait()
	if bytes.Equal(base.b, before) || reads == 0 {
		t.Fatalf("the base was not written, or nothing read beside it (%d reads)", reads)
	}
	got := make([]byte, d.Size())
	if _, err := d.ReadAt(got, 0); err != nil || !bytes.Equal(got, before) {
		t.Errorf("the whole is not what the base was (%v)", err)
	}
	if err := d.Keep(d.Size(), 1); err == nil {
		t.Error("a range beyond the end was kept")
	}
}
