package overlay

import (
	"bytes"
	"errors"
	"io"
	"math/rand/v2"
	"sync"
	"testing"
)

// shared is a base that may be read and written at the same time.
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

// TestKeepWhileTheBaseIsWritten checks that an overlay reads as its base did at the beginning if
// Keep is called before each write to the base, also while another goroutine reads.
func TestKeepWhileTheBaseIsWritten(t *testing.T) {
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	r := rand.New(rand.NewPCG(seed, 0))
	base := &shared{b: random(r, 1<<20+512)}
	clear(base.b[200_000:600_000]) // zeros, which Keep does not store
	before := bytes.Clone(base.b)
	d, err := New(base)
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()

	stop, reads := make(chan struct{}), 0
	var reader sync.WaitGroup
	reader.Go(func() { reads = readUntil(t, stop, d, before, rand.New(rand.NewPCG(seed, 1))) })
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
		t.Fatalf("the base was not written, or not read at the same time (%d reads)", reads)
	}
	got := make([]byte, d.Size())
	if _, err := d.ReadAt(got, 0); err != nil || !bytes.Equal(got, before) {
		t.Errorf("the overlay differs from the first state of the base (%v)", err)
	}
	if err := d.Keep(d.Size(), 1); err == nil {
		t.Error("Keep accepted a range beyond the end")
	}
}

// readUntil reads random ranges of an overlay until stop is closed, and compares them with want. It
// returns the number of reads.
func readUntil(
	t *testing.T, stop <-chan struct{}, d *Disk, want []byte, r *rand.Rand,
) (reads int) {
	for {
		select {
		case <-stop:
			return reads
		default:
		}
		off := r.Uint64N(d.Size())
		got := make([]byte, r.Uint64N(min(d.Size()-off, 20000))+1)
		got = got[:min(uint64(len(got)), d.Size()-off)]
		n, err := d.ReadAt(got, int64(off))
		if err != nil && !errors.Is(err, io.EOF) || !bytes.Equal(got[:n], want[off:off+uint64(n)]) {
			t.Errorf("the read at %d differs from the first state of the base (%v)", off, err)
			return reads
		}
		reads++
	}
}
