package btrfs_test

import (
	"errors"
	"testing"

	"fsward/interp"
	"fsward/interp/btrfs"
)

// TestSubtreesTakeRoom checks that a comparison stops with an error if the memory does not suffice
// for its subtrees. A transaction that rewrites the inner nodes of a very large tree has far more
// of them than written blocks.
func TestSubtreesTakeRoom(t *testing.T) {
	limits := interp.Limits{Memory: 64 << 20}
	if err := btrfs.KeepSpans(100_000, limits.NewMemoryBudget()); err != nil {
		t.Errorf("100,000 subtrees: %v", err)
	}
	var full *interp.MemoryError
	if err := btrfs.KeepSpans(10_000_000, limits.NewMemoryBudget()); !errors.As(err, &full) {
		t.Errorf("10,000,000 subtrees in %d MiB: %v", limits.Memory>>20, err)
	}
}
