package child

import (
	"errors"
	"os"
	"path/filepath"
	"testing"
)

// TestUnitFolder checks that a new folder removes the folders of workers that were killed, and not
// that of a worker that lives, nor a folder of somebody else.
func TestUnitFolder(t *testing.T) {
	dir := t.TempDir()
	first, err := newUnitFolder(dir)
	if err != nil {
		t.Fatal(err)
	}
	left, other := filepath.Join(dir, folderPrefix+"1"), filepath.Join(dir, "unit-1")
	for _, path := range []string{left, other} {
		if err := os.MkdirAll(filepath.Join(path, "out"), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	second, err := newUnitFolder(dir)
	if err != nil {
		t.Fatal(err)
	}
	exists := map[string]bool{first.path: true, second.path: true, left: false, other: true}
	for path, want := range exists {
		if _, err := os.Stat(path); (err == nil) != want {
			t.Errorf("%s exists: %v, want %v", path, err == nil, want)
		}
	}
	if err := errors.Join(first.remove(), second.remove()); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(first.path); !os.IsNotExist(err) {
		t.Errorf("the folder of a unit that ended: %v", err)
	}
}
