package uml

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// A Written has a byte for each page of each disk, and forgets the pages that were taken.
func TestWritten(t *testing.T) {
	dir := t.TempDir()
	var disks []string
	for i, size := range []int64{3 * PageBytes, 5*PageBytes + 1} {
		path := filepath.Join(dir, string(rune('a'+i)))
		if err := os.WriteFile(path, nil, 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Truncate(path, size); err != nil {
			t.Fatal(err)
		}
		disks = append(disks, path)
	}
	w, err := NewWritten(filepath.Join(dir, "written"), disks...)
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	w.memory[mapsAt+2], w.memory[mapsAt+3], w.memory[mapsAt+8] = 1, 1, 1
	if got := w.Take(0); !slices.Equal(got, []uint64{2}) {
		t.Errorf("the first disk: %v", got)
	}
	if got := w.Take(1); !slices.Equal(got, []uint64{0, 5}) {
		t.Errorf("the second disk: %v", got)
	}
	if got := append(w.Take(0), w.Take(1)...); len(got) > 0 {
		t.Errorf("again: %v", got)
	}
	if _, err := NewWritten(filepath.Join(dir, "more"), make([]string, MaxDisks+1)...); err == nil {
		t.Error("too many disks are accepted")
	}
}

// The kernel has file systems in itself and as modules, and lacks others.
func TestCanMount(t *testing.T) {
	for _, typ := range []string{"ext3", "btrfs", "vfat", "nilfs2"} {
		if err := CanMount(typ); err != nil {
			t.Error(err)
		}
	}
	for _, typ := range []string{"exfat", "ntfs3", "", "ext"} {
		if err := CanMount(typ); err == nil || !strings.Contains(err.Error(), "no "+typ) {
			t.Errorf("%q: %v", typ, err)
		}
	}
	const other = "another driver for ext2"
	if err := CanMount("ext2"); err == nil || !strings.Contains(err.Error(), other) {
		t.Errorf("ext2: %v", err)
	}
}

// The kernel has modules, whose names may have hyphens or underscores, and lacks others.
func TestCanLoad(t *testing.T) {
	for _, name := range []string{"dm-raid", "dm_mod", "raid456", "loop"} {
		if err := CanLoad(name); err != nil {
			t.Error(err)
		}
	}
	for _, name := range []string{"fsw_ekm", "exfat", "", "raid"} {
		if err := CanLoad(name); err == nil || !strings.Contains(err.Error(), "no module "+name) {
			t.Errorf("%q: %v", name, err)
		}
	}
}
