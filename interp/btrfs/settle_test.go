package btrfs_test

import (
	"slices"
	"testing"

	"fsward/interp/btrfs"
)

// TestManyReferences checks that the references to one extent are recorded without gathering all of
// them, and that the records are the same as if all were gathered.
func TestManyReferences(t *testing.T) {
	want, all, err := btrfs.References(3000, 1<<20)
	if err != nil {
		t.Fatal(err)
	}
	got, most, err := btrfs.References(3000, 64)
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(got, want) {
		t.Errorf("%d records, want the %d that one group gives", len(got), len(want))
	}
	if all != 4500 || most > 70 {
		t.Errorf("gathered %d objects of all %d, want 70 at most", most, all)
	}
}
