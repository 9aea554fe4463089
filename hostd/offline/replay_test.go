package offline_test

import (
	"context"
	"errors"
	"testing"

	"go.uber.org/zap/zaptest"

	"fsward/change"
	"fsward/hostd/guard"
	"fsward/hostd/guardtest"
	"fsward/hostd/memory"
	"fsward/hostd/offline"
	"fsward/interp/detect"
	"fsward/shareddata"
)

// TestReplayOfCapturedLogs replays logs of a real kernel from mount to unmount, which others
// captured. Both end clean, so every commit in them holds. With -short the reference engine judges
// the whole ext3, and of the Btrfs the first commits. These have all kinds of changes except those
// of the last one, which deletes the files: see TestReferenceJudgesDeletions in hostd/guard.
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
				commits := tc.commits
				if testing.Short() && engine == guard.EngineReference && tc.fs == "btrfs" {
					commits = 5
					t.Logf("-short: the first %d of %d commits", commits, tc.commits)
				}
				replayCaptured(t, tc.name, tc.fs, engine, commits, commits < tc.commits)
			})
		}
	}
}

// cutAfter is a Sink that ends a replay after a number of commits.
type cutAfter struct {
	commits uint64
	end     context.CancelFunc
}

func (c *cutAfter) Event(ev *guard.Event) {
	if ev.Kind == guard.KindCommit {
		if c.commits--; c.commits == 0 {
			c.end()
		}
	}
}

// replayCaptured replays a log, or cut, its first commits.
func replayCaptured(t *testing.T, name, fs, engine string, commits uint64, cut bool) {
	var seen guardtest.Events
	ctx, end := context.WithCancel(t.Context())
	defer end()
	sinks := []guard.Sink{&seen}
	if cut {
		sinks = append(sinks, &cutAfter{commits, end})
	}
	sum, err := offline.Replay(ctx, offline.ReplayConfig{
		Disks: []offline.ReplayDisk{{Base: capturedBase(t, name),
			Log: shareddata.Path(t, "logs/"+name+".log.zst")}},
		FS: detect.Auto, Rules: guard.RulesConfig{Engine: engine}, Sinks: sinks,
	}, zaptest.NewLogger(t))
	if err != nil && (!cut || !errors.Is(err, context.Canceled)) {
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

// TestReplayWithinItsMemory checks that a commit that does not fit into the given memory is judged
// part by part, as a guard of that memory judges it, and has the same verdict and records.
func TestReplayWithinItsMemory(t *testing.T) {
	t.Parallel()
	cfg := offline.ReplayConfig{
		Disks: []offline.ReplayDisk{{Base: capturedBase(t, "btrfs-single-4k"),
			Log: shareddata.Path(t, "logs/btrfs-single-4k.log.zst")}}, FS: detect.Auto}
	var records []uint64
	var steps []int64
	for _, limits := range []memory.Limits{{}, {PerDisk: 1 << 20, NoReserve: true}} {
		var seen guardtest.Events
		cfg.Memory, cfg.Sinks = limits, []guard.Sink{&seen}
		sum, err := offline.Replay(context.Background(), cfg, zaptest.NewLogger(t))
		if err != nil {
			t.Fatal(err)
		}
		if sum.Outcome() != change.Holds {
			t.Errorf("%+v: %s", limits, sum.Outcome())
		}
		all := int64(0)
		for _, ev := range seen {
			all += ev.Steps
		}
		records, steps = append(records, sum.Records), append(steps, all)
	}
	if records[0] != records[1] {
		t.Errorf("%d records in little memory, %d in the default", records[1], records[0])
	}
	if steps[0] == steps[1] {
		t.Errorf("%d steps with and without memory: nothing was judged part by part", steps[0])
	}
}
