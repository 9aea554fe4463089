package explore_test

import (
	"context"
	"testing"
	"time"

	"fsward/explore"
	"fsward/explore/agent"
	"fsward/explore/exploretest"
)

// TestRestoring checks that runs visit the same states and find the same errors with each method to
// reach states.
func TestRestoring(t *testing.T) {
	for _, c := range []struct {
		bug      exploretest.Bug
		keys     int
		strategy explore.Strategy
		errors   int
	}{
		{"", 2, explore.BreadthFirst, 0},
		{"", 2, explore.DepthFirst, 0},
		{exploretest.DroppedFlush, 2, explore.DepthFirst, 2},
		{exploretest.Panic, 3, explore.BreadthFirst, 1},
	} {
		var want explore.Totals
		methods := []explore.Restoring{explore.ByReplay, explore.ByCheckpoint, explore.ByCost}
		for i, method := range methods {
			cfg := toy(t, c.bug, c.keys, 1)
			cfg.Restore, cfg.Strategy, cfg.NewAccount = method, c.strategy, newAccount
			got, err := explore.Run(context.Background(), cfg)
			if err != nil {
				t.Fatal(err)
			}
			if len(got.Errors) != c.errors || !got.Complete || got.Diverged != 0 {
				t.Errorf("%q, %s, %s: %+v", c.bug, method, c.strategy, got)
			}
			loaded := got.Loaded > 0
			if method != explore.ByCost && loaded != (method == explore.ByCheckpoint) {
				t.Errorf("%s: %d executions began with a checkpoint", method, got.Loaded)
			}
			if i == 0 {
				want = got.Totals
			}
			if got.States != want.States || got.Runs != want.Runs || got.CrashStates != want.CrashStates {
				t.Errorf("%s, %s: %+v, want %+v", method, c.strategy, got.Totals, want)
			}
		}
	}
}

// A slow machine takes time for checkpoints or operations.
type slow struct {
	*exploretest.System
	load, run time.Duration
}

func (s slow) Run(ctx context.Context, c agent.Command) (agent.Exit, error) {
	time.Sleep(s.run)
	return s.System.Run(ctx, c)
}

func (s slow) Load(ctx context.Context, c explore.Checkpoint) error {
	time.Sleep(s.load)
	return s.System.Load(ctx, c)
}

func (s slow) Save(ctx context.Context) (explore.Checkpoint, error) {
	time.Sleep(s.load)
	return s.System.Save(ctx)
}

// TestRestoringByCost checks that ByCost takes the method that costs less: checkpoints if
// operations are slow, and replays if checkpoints are slow.
func TestRestoringByCost(t *testing.T) {
	for _, c := range []struct {
		load, run time.Duration
		loads     bool
	}{{0, time.Millisecond, true}, {50 * time.Millisecond, 0, false}} {
		cfg := toy(t, "", 2, 1)
		cfg.System = slow{system(cfg), c.load, c.run}
		cfg.HostOnly, cfg.Depth = true, 4 // no crash state is recovered
		got, err := explore.Run(context.Background(), cfg)
		if err != nil {
			t.Fatal(err)
		}
		if loads := got.Loaded > got.Runs/4; loads != c.loads {
			t.Errorf("load %v, operation %v: %d of %d executions began with a checkpoint",
				c.load, c.run, got.Loaded, got.Runs)
		}
	}
}
