package guard_test

import (
	"slices"
	"testing"

	"fsward/hostd/guardtest"
)

// TestRulesArePreparedForADisk formats a blank disk twice: the rules of a file system are ready as
// soon as a disk has one, not before, and stay so when they are loaded again.
func TestRulesArePreparedForADisk(t *testing.T) {
	r := guardtest.Attach(t, guardtest.BlankImage(t, 256<<20), nil)
	check := func(want ...string) {
		t.Helper()
		for _, when := range []string{"at first", "after a reload"} {
			got := r.Daemon.Prepared()
			slices.Sort(got)
			if !slices.Equal(got, want) {
				t.Errorf("%s, the rules of %v are ready, want %v", when, got, want)
			}
			if _, err := r.Daemon.Reload(); err != nil {
				t.Fatal(err)
			}
		}
	}
	check()
	guardtest.Run(t, "mkfs.ext3", "-Fq", r.LoopDev)
	check("ext3")
	guardtest.Run(t, "mkfs.btrfs", "-qf", r.LoopDev)
	check("btrfs", "ext3")
}
