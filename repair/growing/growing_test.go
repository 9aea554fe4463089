package growing

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"
)

// log is a Watcher that keeps what it sees as text.
type log []string

func (l *log) Wrote(off uint64, data []byte) {
	*l = append(*l, fmt.Sprintf("%d %s", off, data))
}

func (l *log) Flushed() { *l = append(*l, "flushed") }

// TestGrowing writes to the file, which grows up to its limit, and reads it again. The watcher sees
// each write and flush in order.
func TestGrowing(t *testing.T) {
	dir, seen := t.TempDir(), &log{}
	s, err := Mount(dir, 16, seen)
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := s.Unmount(); err != nil {
			t.Error(err)
		}
	}()
	// os.OpenFile would poll the file, and keep the server from its processor meanwhile.
	fd, err := unix.Open(filepath.Join(dir, FileName), unix.O_RDWR|unix.O_CREAT|unix.O_TRUNC, 0o600)
	if err != nil {
		t.Fatal(err)
	}
	f := os.NewFile(uintptr(fd), FileName)
	defer f.Close()
	if _, err := f.WriteAt([]byte("abc"), 4); err != nil {
		t.Error(err)
	}
	if err := f.Sync(); err != nil {
		t.Error(err)
	}
	if _, err := f.WriteAt([]byte("xy"), 0); err != nil {
		t.Error(err)
	}
	if _, err := f.WriteAt([]byte("long"), 13); !errors.Is(err, syscall.ENOSPC) {
		t.Errorf("a write beyond the limit: %v", err)
	}
	if err := f.Truncate(2); !errors.Is(err, syscall.EOPNOTSUPP) {
		t.Errorf("a truncation: %v", err)
	}
	text, err := io.ReadAll(io.NewSectionReader(f, 0, 32))
	if err != nil || string(text) != "xy\x00\x00abc" {
		t.Errorf("%q, %v", text, err)
	}
	if want := []string{"4 abc", "flushed", "0 xy"}; !slices.Equal(*seen, want) {
		t.Errorf("seen %q, want %q", *seen, want)
	}
}
