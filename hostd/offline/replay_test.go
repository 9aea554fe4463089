package offline_test

import (
	"context"
	"testing"

	"go.uber.org/zap/zaptest"

	"fsward/change"
	"fsward/hostd/guard"
	"fsward/hostd/guardtest"
	"fsward/hostd/offline"
	"fsward/interp/detect"
	"fsward/shareddata"
)

// TestReplayOfCapturedLogs replays logs of a real kernel from mount to unmount, which others
// captured. Both end clean, so every commit in them holds.
func TestReplayOfCapturedLogs(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		name, fs string
		commits  uint64
	}{
		{"btrfs-single-4k", "btrfs", 21},
		{"ext3-default", "ext3", 21},
	} {
		for _, engine := range guard.Engines {
			t.Run(tc.name+" "+engine, func(t *testing.T) {
				t.Parallel()
				replayCaptured(t, tc.name, tc.fs, engine, tc.commits)
			})
		}
	}
}

func replayCaptured(t *testing.T, name, fs, engine string, commits uint64) {
	var seen guardtest.Events
	sum, err := offline.Replay(context.Background(), offline.ReplayConfig{
		Disks: []offline.ReplayDisk{{Base: shareddata.Path(t, "logs/"+name+".base.img.zst"),
			Log: shareddata.Path(t, "logs/"+name+".log.zst")}},
		FS: detect.Auto, Rules: guard.RulesConfig{Engine: engine}, Sinks: []guard.Sink{&seen},
	}, zaptest.NewLogger(t))
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("%d commits, %d records in %.1f s", sum.Commits, sum.Records, float64(sum.NS)/1e9)
	if sum.Commits != commits || sum.Outcome() != change.Holds {
		t.Errorf("%d commits, %s; want %d, holds", sum.Commits, sum.Outcome(), commits)
	}
	if sum.Records < 100_000 {
		t.Errorf("only %d records for 10,000 files", sum.Records)
	}
	last := uint64(0)
	for _, ev := range seen {
		if ev.Outcome != change.Holds {
			t.Errorf("false alarm: %s", guardtest.TextOf(ev))
		}
		if ev.Kind == guard.KindCommit {
			if ev.FS != fs || ev.Generation <= last {
				t.Errorf("commit of %s with generation %d after %d", ev.FS, ev.Generation, last)
			}
			last = ev.Generation
		}
	}
}
