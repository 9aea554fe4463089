//go:build vmtest

package vm

import "testing"

// A module in the guest's stock kernel enumerates choices, has allocations fail at a site, logs what could be written, holds
// threads, and goes without a trace.
func TestGuestEKM(t *testing.T) {
	checkGuest(t, "ekm", shortDir(t), nil, "choose", "slab")
}
