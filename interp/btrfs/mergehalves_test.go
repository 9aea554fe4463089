package btrfs_test

import (
	"slices"
	"testing"

	"fsward/interp"
	"fsward/interp/btrfs"
	"fsward/shareddata"
)

// TestMergeHalves checks that two goroutines find the same difference of a tree as one: the same
// records in the same order, and the same names with the same numbers. The test compares every tree
// in every commit of a recording, and every tree of the last state as new.
func TestMergeHalves(t *testing.T) {
	for _, name := range []string{"btrfs-single-4k"} {
		t.Run(name, func(t *testing.T) {
			d := openDisk(t, shareddata.Path(t, "logs/"+name+".base.img.zst"))
			f := follow(t, d)
			was := btrfs.BaseOf(f)
			compared, deleted := 0, 0
			compare := func(old, now btrfs.State) (halved int) {
				for _, tree := range []uint64{1, 2, 4, 5, 7, 9, 10} {
					one, _ := btrfs.Difference(old, now, tree, false)
					two, done := btrfs.Difference(old, now, tree, true)
					if !done {
						continue
					}
					halved++
					if !slices.Equal(one, two) {
						t.Fatalf("tree %d: %d lines by two, %d by one:\n%.2000q\n%.2000q",
							tree, len(two), len(one), two, one)
					}
				}
				return halved
			}
			eachWrite(t, shareddata.Path(t, "logs/"+name+".log.zst"), func(w interp.Write) bool {
				obs := f.Observe(w)
				d.apply(w)
				f.Settle(true)
				if obs.Point == interp.CommitPoint {
					now := btrfs.BaseOf(f)
					compared += compare(was, now)
					deleted += compare(now, was) // in reverse, added items are deleted
					was = now
				}
				return true
			}, func(seq uint64) { f.Flushed(0, seq) })
			whole := compare(btrfs.State{}, was)
			if compared < 20 || deleted < 20 || whole < 2 {
				t.Errorf("two goroutines compared %d and %d trees, and %d of the last state",
					compared, deleted, whole)
			}
		})
	}
}
