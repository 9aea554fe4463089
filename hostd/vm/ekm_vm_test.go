//go:build vmtest

package vm

import "testing"

// TestGuestEKM checks that a module in the guest's stock kernel enumerates choices, lets
// allocations fail at a site, logs blocks that could be written, holds threads, and is removed
// without a trace.
func TestGuestEKM(t *testing.T) {
	checkGuest(t, "ekm", shortDir(t), 1, nil, "choose", "module", "slab", "points", "calls", "threads",
		"overflow")
}

// TestGuestEKMWrites checks that the module's log of the write set explains every sector that the
// disk received, for ext2, ext3, ext4 and Btrfs.
func TestGuestEKMWrites(t *testing.T) {
	checkGuest(t, "ekm", shortDir(t), 1, nil, "writes-ext2", "writes-ext3", "writes-ext4",
		"writes-btrfs", "rates")
}

// TestGuestEKMCycles loads, uses and unloads the module a hundred times: nothing stays in the
// guest's memory, and the kernel's log has no warning.
func TestGuestEKMCycles(t *testing.T) { checkGuest(t, "ekm", shortDir(t), 1, nil, "cycles") }
