package main

import (
	"os"
	"path/filepath"
	"testing"

	"fsward/dev/load"
)

// TestBigFile checks with e2fsck that a file with indirect blocks of all levels is sound, and that
// its contents are holes.
func TestBigFile(t *testing.T) {
	image := filepath.Join(t.TempDir(), "image")
	err := load.Make(t.Context(), "ext3", []string{image}, 120<<20, "-b", "1024", "-J", "size=1")
	if err != nil {
		t.Fatal(err)
	}
	if err := makeBigFile(t.Context(), image, 80<<20); err != nil {
		t.Fatal(err)
	}
	if err := load.Command(t.Context(), "e2fsck", "-fn", image); err != nil {
		t.Error(err)
	}
	if err := makeBigFile(t.Context(), image, 80<<20); err == nil {
		t.Error("there is room for a second file")
	}
	if info, err := os.Stat(image); err != nil || info.Size() != 120<<20 {
		t.Errorf("the image has another size: %v %v", info, err)
	}
}
