package btrfs_test

import (
	"fmt"
	"testing"

	"fsward/interp"
)

// TestLogOfManySubvolumes writes the logs of many subvolumes in one transaction. The cost of a log
// commit must not grow with the logs that stay the same.
func TestLogOfManySubvolumes(t *testing.T) {
	const few, many = 8, 64
	k := startKernel(t, 256<<20)
	for i := range many {
		run(t, "btrfs", "subvolume", "create", k.path(fmt.Sprintf("v%d", i)))
	}
	k.sync()
	var allocations [many + 1]float64 // of the log commit with so many logs
	for i := range many {
		name := k.path(fmt.Sprintf("v%d/f", i))
		must(t, writeFile(name, 100))
		run(t, "sync", name)
		k.show(func(w interp.Write) {
			if w.Off == primary {
				allocations[i+1] = testing.AllocsPerRun(3, func() {
					k.fs.Observe(w)
					k.fs.Settle(false)
				})
			}
			obs := k.fs.Observe(w)
			if len(obs.Violations) > 0 || obs.Unknown != nil {
				t.Errorf("write at %d: %+v", w.Off, obs)
			}
			if w.Off == primary && obs.Point != interp.LogPoint {
				t.Errorf("subvolume %d: the superblock is no log commit: %v", i, obs.Point)
			}
			k.disk.apply(w)
			k.fs.Settle(true)
		})
	}
	t.Logf("allocations: %.0f, and %.0f", allocations[few], allocations[many])
	if allocations[few] == 0 || allocations[many] > 2*allocations[few] {
		t.Errorf("a log commit with %d logs makes %.0f allocations, one with %d logs %.0f", few,
			allocations[few], many, allocations[many])
	}
}
