package btrfs_test

import (
	"testing"
	"time"

	"fsward/interp"
	"fsward/interp/btrfs"
	"fsward/shareddata"
)

// TestRealLog checks that all commits in the recording of a real kernel, from mount to unmount, are
// sound.
func TestRealLog(t *testing.T) {
	base := shareddata.Path(t, "logs/btrfs-single-4k.base.img.zst")
	log := shareddata.Path(t, "logs/btrfs-single-4k.log.zst")
	d := openDisk(t, base)
	f, err := btrfs.New(d)
	if err != nil {
		t.Fatal(err)
	}
	e := builtin(t)
	commits, logs, records := 0, 0, 0
	var spent, ruled time.Duration
	eachWrite(t, log, func(w interp.Write) bool {
		start := time.Now()
		obs := f.Observe(w)
		spent += time.Since(start)
		for _, v := range obs.Violations {
			t.Errorf("write at %d: %s %s %s at %d: %s",
				w.Off, v.Rule, v.Tree, v.ID, v.Addr, v.Detail)
		}
		if obs.Unknown != nil {
			t.Errorf("write at %d: %v", w.Off, obs.Unknown)
		}
		switch obs.Point {
		case interp.CommitPoint:
			commits++
			if obs.Txn != nil {
				records += len(obs.Txn.Records)
				start := time.Now()
				for _, v := range check(t, e, obs.Txn, obs.View) {
					t.Errorf("generation %d: false alarm %s %s %s: %v",
						obs.Generation, v.Rule, v.Tree, v.ID, v.Witness)
				}
				ruled += time.Since(start)
			}
		case interp.LogPoint:
			logs++
		}
		d.apply(w)
		f.Settle(true)
		return !t.Failed()
	}, func(seq uint64) { f.Flushed(0, seq) })
	if commits != 21 {
		t.Errorf("%d commits, want 21", commits)
	}
	t.Logf("%d commits, %d log commits, %d records: interpreted in %v, judged by rules in %v",
		commits, logs, records, spent, ruled)
}
