package testimage

import (
	"bytes"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// sparse makes a file of 1 MiB with 16 bytes in its middle and returns its path.
func sparse(t *testing.T) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "disk.img")
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if _, err := f.WriteAt([]byte("0123456789abcdef"), 512<<10); err != nil {
		t.Fatal(err)
	}
	if err := f.Truncate(1 << 20); err != nil {
		t.Fatal(err)
	}
	return path
}

func contents(t *testing.T, m *Image) []byte {
	t.Helper()
	b, err := io.ReadAll(io.NewSectionReader(m, 0, int64(m.Size())))
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// TestSave saves an image, loads it and copies it: the bytes and the holes stay.
func TestSave(t *testing.T) {
	m, err := Open(sparse(t))
	if err != nil {
		t.Fatal(err)
	}
	defer m.Close()
	saved := filepath.Join(t.TempDir(), "a.zst")
	if err := m.Save(saved); err != nil {
		t.Fatal(err)
	}
	if err := m.Save(saved); err == nil {
		t.Error("a saved image was overwritten")
	}
	loaded, err := Load(saved, t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	defer loaded.Close()
	if !bytes.Equal(contents(t, m), contents(t, loaded)) {
		t.Error("the loaded image is different")
	}
	f, err := os.CreateTemp(t.TempDir(), "copy")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if _, err := f.WriteAt(bytes.Repeat([]byte{1}, 2<<20), 0); err != nil {
		t.Fatal(err)
	}
	if err := loaded.CopyTo(f); err != nil {
		t.Fatal(err)
	}
	copied, err := os.ReadFile(f.Name())
	if err != nil || !bytes.Equal(copied, contents(t, m)) {
		t.Errorf("the copy has %d bytes, %v", len(copied), err)
	}
	bytesOf := func(m *Image) (n int64) {
		for _, e := range m.extents {
			n += e.end - e.off
		}
		return n
	}
	if n := bytesOf(loaded); n == 0 || n > 128<<10 {
		t.Errorf("the loaded image has %d bytes that are no hole", n)
	}
}

// TestRead reads within an image and beyond it.
func TestRead(t *testing.T) {
	m, err := Open(sparse(t))
	if err != nil {
		t.Fatal(err)
	}
	defer m.Close()
	b := make([]byte, 4)
	if n, err := m.ReadAt(b, 512<<10+2); n != 4 || err != nil || string(b) != "2345" {
		t.Errorf("%d, %v, %q", n, err, b)
	}
	if n, err := m.ReadAt(b, 1<<20-2); n != 2 || !errors.Is(err, io.EOF) {
		t.Errorf("at the end: %d, %v", n, err)
	}
	for _, off := range []int64{-1, 1<<20 + 1} {
		if _, err := m.ReadAt(b, off); err == nil {
			t.Errorf("an offset of %d is accepted", off)
		}
	}
}

// TestRefuses opens and loads what is no image.
func TestRefuses(t *testing.T) {
	dir := t.TempDir()
	empty := filepath.Join(dir, "empty")
	if err := os.WriteFile(empty, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{dir, empty, filepath.Join(dir, "none"), "/dev/null"} {
		if m, err := Open(path); err == nil {
			t.Errorf("%s is an image of %d bytes", path, m.Size())
		}
	}
	if _, err := Load(sparse(t), dir); err == nil {
		t.Error("a file that is not compressed was loaded")
	}
	_, err := Build(t.Context(), "nofs", dir)
	if err == nil || !strings.Contains(err.Error(), "ext3") {
		t.Errorf("no list of file systems: %v", err)
	}
	if err := run(t.Context(), "", "sh", "-c", "echo why; exit 3"); err == nil ||
		!strings.Contains(err.Error(), "why") {
		t.Errorf("an error without the program's output: %v", err)
	}
}
