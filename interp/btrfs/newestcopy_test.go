package btrfs_test

import (
	"testing"

	"fsward/interp"
	"fsward/interp/btrfs"
	"fsward/interp/btrfs/ondisk"
	"fsward/shareddata"
)

// TestNewestCopy reads a file system in use whose last commit has reached the second copy of the
// superblock, and not yet the primary one. Its state is that of the last commit. A mount would see
// the one before.
func TestNewestCopy(t *testing.T) {
	d := openDisk(t, shareddata.Path(t, "logs/btrfs-single-4k.base.img.zst"))
	f, err := btrfs.New(d)
	if err != nil {
		t.Fatal(err)
	}
	const third = 3
	commits, generation := 0, uint64(0)
	eachWrite(t, shareddata.Path(t, "logs/btrfs-single-4k.log.zst"), func(w interp.Write) bool {
		obs := f.Observe(w)
		f.Settle(true)
		if obs.Point == interp.CommitPoint {
			commits, generation = commits+1, obs.Generation
		}
		if commits < third || w.Off != ondisk.SuperOffset {
			d.apply(w)
		}
		return commits < third || w.Off != ondisk.SuperOffsets[1]
	}, func(uint64) {})
	for inUse, want := range map[bool]uint64{true: generation, false: generation - 1} {
		obs, err := btrfs.ImageWith(d, interp.ImageOptions{InUse: inUse})
		if err != nil || len(obs.Violations) > 0 || obs.Unknown != nil {
			t.Fatalf("in use %t: %v %v %v", inUse, err, obs.Unknown, obs.Violations)
		}
		if obs.Generation != want {
			t.Errorf("in use %t: generation %d, want %d", inUse, obs.Generation, want)
		}
	}
}
