package explore_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"fsward/explore"
	"fsward/explore/agent"
	"fsward/explore/crash"
	"fsward/explore/exploretest"
)

// A slowJudge takes three seconds for each crash state, and finds nothing.
type slowJudge struct{}

func (slowJudge) Judge(context.Context, *crash.State) (explore.Judgment, error) {
	time.Sleep(3 * time.Second)
	return explore.Judgment{}, nil
}

// TestProgressBetweenCrashStates checks that "progress" events come while the crash states of one
// step are tried, with the number of those that were.
func TestProgressBetweenCrashStates(t *testing.T) {
	cfg := toy(t, exploretest.DroppedFlush, 3, 1) // a sync leaves several crash states
	cfg.Depth, cfg.HostOnly = 4, true
	cfg.NewJudge = func(context.Context, []crash.Base) (explore.Judge, error) {
		return slowJudge{}, nil
	}
	synctest.Test(t, func(t *testing.T) {
		tried := make(map[uint64]uint64) // crash states at the first event of a step
		between := false
		cfg.OnEvent = func(e explore.Event) {
			if e.Event != "progress" {
				return
			}
			first, is := tried[e.Totals.Runs]
			if !is {
				tried[e.Totals.Runs] = e.Totals.CrashStates
			}
			between = between || is && e.Totals.CrashStates > first
		}
		if _, err := explore.Run(context.Background(), cfg); err != nil {
			t.Fatal(err)
		}
		if !between {
			t.Error("no event comes between the crash states of a step")
		}
	})
}

// A slowSystem takes three seconds for each command.
type slowSystem struct{ explore.System }

func (s slowSystem) Run(ctx context.Context, c agent.Command) (agent.Exit, error) {
	time.Sleep(3 * time.Second)
	return s.System.Run(ctx, c)
}

// TestProgressWithinAStep checks that "progress" events come between the requests of one step.
func TestProgressWithinAStep(t *testing.T) {
	cfg := toy(t, "", 3, 1)
	cfg.Runs = 1
	synctest.Test(t, func(t *testing.T) {
		cfg.System = slowSystem{cfg.System}
		events := 0
		cfg.OnEvent = func(e explore.Event) {
			if e.Event == "progress" && e.Totals.Runs == 0 && e.Totals.CrashStates == 0 {
				events++
			}
		}
		if _, err := explore.Run(context.Background(), cfg); err != nil {
			t.Fatal(err)
		}
		if events < 2 {
			t.Errorf("%d events in a step of several requests", events)
		}
	})
}
