//go:build vmtest

package vm

import "testing"

// A module in the guest's stock kernel enumerates choices, has allocations fail at a site, logs
// what could be written, holds threads, and goes without a trace.
func TestGuestEKM(t *testing.T) {
	checkGuest(t, "ekm", shortDir(t), 1, nil, "choose", "module", "slab", "points", "calls", "threads",
		"overflow")
}

// What the module says of the write set explains every sector that the disk was given, for ext2,
// ext3, ext4 and Btrfs.
func TestGuestEKMWrites(t *testing.T) {
	checkGuest(t, "ekm", shortDir(t), 1, nil, "writes-ext2", "writes-ext3", "writes-ext4",
		"writes-btrfs", "rates")
}

// A hundred times loaded, used and unloaded, the module has left nothing in the guest's memory, and
// no warning in the kernel's log.
func TestGuestEKMCycles(t *testing.T) { checkGuest(t, "ekm", shortDir(t), 1, nil, "cycles") }
