package offline_test

import (
	"bytes"
	"os"
	"path/filepath"
	"sync"
	"testing"

	"fsward/blocktap"
	"fsward/shareddata"
)

// captured has the unpacked bases of the captured logs. Unpacking one takes longer than many
// replays.
var captured struct {
	mu  sync.Mutex
	dir string // removed after the tests; "": nothing was unpacked
}

func TestMain(m *testing.M) {
	status := m.Run()
	if captured.dir != "" {
		_ = os.RemoveAll(captured.dir)
	}
	os.Exit(status)
}

// capturedBase returns the path of the unpacked base of a captured log. Tests must not change it.
func capturedBase(t *testing.T, name string) string {
	t.Helper()
	packed := shareddata.Path(t, "logs/"+name+".base.img.zst")
	captured.mu.Lock()
	defer captured.mu.Unlock()
	if captured.dir == "" {
		dir, err := os.MkdirTemp("", "fsward-captured-")
		if err != nil {
			t.Fatal(err)
		}
		captured.dir = dir
	}
	path := filepath.Join(captured.dir, name+".base.img")
	if _, err := os.Stat(path); err != nil {
		unpackTo(t, packed, path)
	}
	return path
}

// unpackTo writes an image to a file, with holes for zeros.
func unpackTo(t *testing.T, packed, path string) {
	t.Helper()
	d, err := blocktap.OpenImage(packed)
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if err := f.Truncate(int64(d.Size())); err != nil {
		t.Fatal(err)
	}
	buf, zeros := make([]byte, 1<<20), make([]byte, 1<<20)
	for at := uint64(0); at < d.Size(); at += uint64(len(buf)) {
		b := buf[:min(uint64(len(buf)), d.Size()-at)]
		if _, err := d.ReadAt(b, int64(at)); err != nil {
			t.Fatal(err)
		}
		if bytes.Equal(b, zeros[:len(b)]) {
			continue
		}
		if _, err := f.WriteAt(b, int64(at)); err != nil {
			t.Fatal(err)
		}
	}
}
