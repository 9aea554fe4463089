package overlay

import (
	"bytes"
	"errors"
	"math/rand/v2"
	"os"
	"path/filepath"
	"sync"
	"testing"

	"golang.org/x/sys/unix"

	"fsward/blocktap"
)

type memory []byte

func (m memory) ReadAt(p []byte, off int64) (int, error) {
	return bytes.NewReader(m).ReadAt(p, off)
}

func (m memory) Size() uint64 { return uint64(len(m)) }

func random(r *rand.Rand, n int) []byte {
	b := make([]byte, n)
	for i := range b {
		b[i] = byte(r.Uint32())
	}
	return b
}

// TestAgainstModel makes the same random changes to an overlay and to a slice. The size is not a
// multiple of the block size.
func TestAgainstModel(t *testing.T) {
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	r := rand.New(rand.NewPCG(seed, 0))
	base := memory(random(r, 300*1024+512))
	model, untouched := bytes.Clone(base), bytes.Clone(base)
	d, err := New(base)
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	for step := range 3000 {
		off := r.Uint64N(d.Size())
		n := r.Uint64N(min(d.Size()-off, 20000) + 1)
		switch r.IntN(4) {
		case 0:
			b := random(r, int(n))
			if _, err := d.WriteAt(b, int64(off)); err != nil {
				t.Fatal(err)
			}
			copy(model[off:], b)
		case 1:
			if err := d.Zero(off, n); err != nil {
				t.Fatal(err)
			}
			clear(model[off : off+n])
		default:
			got := make([]byte, n)
			if _, err := d.ReadAt(got, int64(off)); err != nil {
				t.Fatal(err)
			}
			if !bytes.Equal(got, model[off:off+n]) {
				t.Fatalf("step %d: %d bytes at %d differ", step, n, off)
			}
		}
	}
	got := make([]byte, len(model))
	if _, err := d.ReadAt(got, 0); err != nil || !bytes.Equal(got, model) {
		t.Errorf("the overlay differs from the model: %v", err)
	}
	if !bytes.Equal(base, untouched) {
		t.Error("the base was changed")
	}
}

// TestCost checks that the space of an overlay depends on the writes, not on the size of the base.
func TestCost(t *testing.T) {
	path := filepath.Join(t.TempDir(), "base")
	if err := os.WriteFile(path, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Truncate(path, 1<<40); err != nil {
		t.Fatal(err)
	}
	base, err := blocktap.OpenImage(path)
	if err != nil {
		t.Fatal(err)
	}
	defer base.Close()
	d, err := New(base)
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	if _, err := d.WriteAt(make([]byte, 512), 1<<39); err != nil {
		t.Fatal(err)
	}
	if err := d.Zero(1<<30, 1<<30); err != nil {
		t.Fatal(err)
	}
	var st unix.Stat_t
	raw, _ := d.changes.SyscallConn()
	if err := raw.Control(func(fd uintptr) { err = unix.Fstat(int(fd), &st) }); err != nil {
		t.Fatal(err)
	}
	if err != nil || st.Blocks*512 > 1<<20 {
		t.Errorf("%d bytes stored for a write of 512, %v", st.Blocks*512, err)
	}
	if d.Changed() != 1<<30+blockSize {
		t.Errorf("%d bytes changed", d.Changed())
	}
}

func TestBounds(t *testing.T) {
	d, err := New(memory(make([]byte, 8192)))
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	_, readErr := d.ReadAt(make([]byte, 10), 8190)
	_, writeErr := d.WriteAt(make([]byte, 10), -1)
	for _, err := range []error{readErr, writeErr, d.Zero(8192, 1), d.Trim(1<<63, 1<<63)} {
		if !errors.Is(err, blocktap.ErrRange) {
			t.Errorf("access outside the disk: %v, want ErrRange", err)
		}
	}
}

func TestConcurrent(t *testing.T) {
	d, err := New(memory(make([]byte, 1<<20)))
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	var wg sync.WaitGroup
	for i := range 8 {
		wg.Go(func() {
			// Each goroutine writes its own sectors, in blocks that it shares with all others.
			for s := range 256 {
				off := int64(s*8+i) * 512
				b := bytes.Repeat([]byte{byte(i + 1)}, 512)
				if _, err := d.WriteAt(b, off); err != nil {
					t.Error(err)
				}
				got := make([]byte, 512)
				if _, err := d.ReadAt(got, off); err != nil || !bytes.Equal(got, b) {
					t.Errorf("sector %d: %v", off/512, err)
				}
			}
		})
	}
	wg.Wait()
	for s := range 2048 {
		got := make([]byte, 512)
		if _, err := d.ReadAt(got, int64(s)*512); err != nil || got[0] != byte(s%8+1) {
			t.Fatalf("sector %d holds %d: %v", s, got[0], err)
		}
	}
}
