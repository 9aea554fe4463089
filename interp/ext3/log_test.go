package ext3

import (
	"testing"
	"time"

	"fsward/interp"
	"fsward/shareddata"
)

// TestRealLog follows the log of a real kernel, from mount to unmount: every commit is sound, and
// so is the file system at the end.
func TestRealLog(t *testing.T) {
	d := OpenImage(t, Unpack(t, shareddata.Path(t, "logs/ext3-default.base.img.zst")))
	fs, err := New(d)
	if err != nil {
		t.Fatal(err)
	}
	rules := Engine(t)
	commits, records := 0, 0
	var spent time.Duration
	writes(t, Unpack(t, shareddata.Path(t, "logs/ext3-default.log.zst")), func(w interp.Write) {
		start := time.Now()
		obs := fs.Observe(w)
		took := time.Since(start)
		spent += took
		if obs.Note != "" {
			t.Log(obs.Note)
		}
		start = time.Now()
		for _, line := range Judge(rules, obs) {
			t.Error(line)
		}
		judged := time.Since(start)
		if obs.Point == interp.CommitPoint {
			commits++
			if obs.Txn != nil {
				records += len(obs.Txn.Records)
				t.Logf("commit %d: %d records, %d copies, %v, rules %v", obs.Generation, len(obs.Txn.Records),
					len(fs.m.State.Copies), took, judged)
			}
		}
		d.Apply(w)
		fs.Settle(true)
	})
	t.Logf("%d commits, %d records in %v", commits, records, spent)
	if commits != 21 {
		t.Errorf("%d commits, want 21", commits)
	}
	if fs.m != nil {
		t.Error("the log ends unmounted")
	}

	start := time.Now()
	m, err := (&FS{}).attach(d, d.Size())
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("attached in %v: %d directory and indirect blocks", time.Since(start), m.Roles.Len())
	start = time.Now()
	obs, err := Image(d)
	if err != nil {
		t.Fatal(err)
	}
	took := time.Since(start)
	for _, line := range Judge(rules, obs) {
		t.Errorf("the image at the end: %s", line)
	}
	t.Logf("the image at the end: %d records in %v, rules %v", len(obs.Txn.Records), took,
		time.Since(start)-took)
}
