package agent

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"golang.org/x/sys/unix"
)

// A directory that one call cannot read gives all names, and a file its bytes up to the end.
func TestRawFile(t *testing.T) {
	dir := t.TempDir()
	var want []string
	for i := range 3000 {
		name := fmt.Sprintf("a-name-that-is-not-short-%d", i)
		if err := os.WriteFile(filepath.Join(dir, name), []byte(name), 0o600); err != nil {
			t.Fatal(err)
		}
		want = append(want, name)
	}
	d, err := openRaw(dir, unix.O_DIRECTORY)
	if err != nil {
		t.Fatal(err)
	}
	got, err := d.names()
	slices.Sort(got)
	slices.Sort(want)
	if err := errors.Join(err, d.Close()); err != nil || !slices.Equal(got, want) {
		t.Errorf("%d names, want %d; %v", len(got), len(want), err)
	}
	f, err := openRaw(filepath.Join(dir, want[0]), 0)
	if err != nil {
		t.Fatal(err)
	}
	b := make([]byte, 100)
	n, err := f.ReadAt(b, 2)
	if !errors.Is(err, io.EOF) || string(b[:n]) != want[0][2:] {
		t.Errorf("%q, %v", b[:n], err)
	}
	if err := f.Close(); err != nil {
		t.Error(err)
	}
	if _, err := openRaw(want[0], unix.O_DIRECTORY); !errors.Is(err, unix.ENOENT) {
		t.Errorf("no directory: %v", err)
	}
	if _, err := f.names(); err == nil {
		t.Error("a closed file has names")
	}
}
