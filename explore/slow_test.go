package explore_test

import (
	"context"
	"slices"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"fsward/explore"
	"fsward/explore/agent"
	"fsward/explore/exploretest"
)

// killed is a command that exceeded its limit, and that a signal ended; 0: nothing could end it.
func killed(by unix.Signal) agent.Exit { return agent.Exit{Code: -1, Signal: by, TimedOut: true} }

// slowToy returns a configuration for a toy. The runs of "toy COMMAND" whose numbers, from 0, slow
// accepts exceed their limit.
func slowToy(t *testing.T, bug exploretest.Bug, command string, by unix.Signal,
	slow func(n int) bool) explore.Config {
	t.Helper()
	cfg := toy(t, bug, 2, 1)
	cfg.Depth, cfg.CommandLimit = 2, 7*time.Second
	run, n := system(cfg).Programs["toy"], 0
	system(cfg).Programs["toy"] = func(s *exploretest.System, c agent.Command) (agent.Exit, error) {
		if c.Timeout != cfg.CommandLimit {
			t.Errorf("%v has a limit of %v, want %v", c.Args, c.Timeout, cfg.CommandLimit)
		}
		if c.Args[1] == command {
			if n++; slow(n - 1) {
				return killed(by), nil
			}
		}
		return run(s, c)
	}
	return cfg
}

// TestSlowCommandIsNotJudged: a crash state or a step whose command is killed after its limit is
// counted as not judged, and neither as an error nor as examined.
func TestSlowCommandIsNotJudged(t *testing.T) {
	never := func(int) bool { return false }
	all, err := explore.Run(t.Context(), slowToy(t, "", "get", unix.SIGKILL, never))
	if err != nil || all.Unjudged != 0 || !all.Complete || all.CrashStates < 3 {
		t.Fatalf("without a slow command: %+v, %v", all, err)
	}
	cfg := slowToy(t, "", "get", unix.SIGKILL, func(n int) bool { return n == 1 })
	var events []string
	cfg.OnEvent = func(e explore.Event) { events = append(events, e.Event+": "+e.Text) }
	sum, err := explore.Run(t.Context(), cfg)
	if err != nil || len(sum.Errors) != 0 || sum.Unjudged != 1 || sum.Complete ||
		sum.Asked[""] != all.Asked[""]-1 {
		t.Errorf("one slow check: %+v, %v; without: %+v", sum, err, all)
	}
	if !slices.ContainsFunc(events, func(e string) bool {
		return strings.HasPrefix(e, "unjudged: a command exceeded 7s: toy get ")
	}) {
		t.Errorf("events: %q", events)
	}
	if again, err := explore.Read(cfg.Dir); err != nil || again.Complete || again.Unjudged != 1 {
		t.Errorf("read again: %+v, %v", again, err)
	}

	for command, begun := range map[string]int{"sync": 0, "unmount": 1} { // the first is of make
		cfg := slowToy(t, "", command, unix.SIGKILL, func(n int) bool { return n == begun })
		sum, err := explore.Run(t.Context(), cfg)
		if err != nil || len(sum.Errors) != 0 || sum.Unjudged == 0 || sum.Complete {
			t.Errorf("a slow %s: %+v, %v", command, sum, err)
		}
	}
}

// TestSlowRunIsUndecided: a run whose checks are all too slow shows nothing, and says why.
func TestSlowRunIsUndecided(t *testing.T) {
	cfg := slowToy(t, exploretest.EarlySync, "get", unix.SIGKILL, func(int) bool { return true })
	sum, err := explore.Run(t.Context(), cfg)
	if why := sum.Unexamined(); err != nil || len(sum.Errors) != 0 || sum.CrashStates != 0 ||
		!strings.Contains(why, "not judged, because a command exceeded its limit") {
		t.Errorf("all checks are slow: %+v, %v; %q", sum, err, why)
	}
}

// TestSlowReplayCountsAsNone: a replay in which a command is too slow is none that does not show
// the error.
func TestSlowReplayCountsAsNone(t *testing.T) {
	was := 0
	found, err := explore.Run(t.Context(), slowToy(t, exploretest.DroppedFlush, "get", unix.SIGKILL,
		func(n int) bool { was = n; return false }))
	if err != nil || len(found.Errors) != 1 || found.Errors[0].Replays != found.Errors[0].Shown {
		t.Fatalf("without a slow command: %+v, %v", found, err)
	}
	cfg := slowToy(t, exploretest.DroppedFlush, "get", unix.SIGKILL,
		func(n int) bool { return n == was }) // in the last replay
	sum, err := explore.Run(t.Context(), cfg)
	if err != nil || len(sum.Errors) != 1 || sum.Errors[0].Replays != found.Errors[0].Replays ||
		sum.Errors[0].Shown != sum.Errors[0].Replays {
		t.Errorf("a slow replay: %+v, %v", sum, err)
	}
}

// TestCommandThatCannotBeKilledHangs: it is an error, and not slow.
func TestCommandThatCannotBeKilledHangs(t *testing.T) {
	cfg := slowToy(t, "", "get", 0, func(n int) bool { return n > 0 })
	sum, err := explore.Run(t.Context(), cfg)
	if err != nil || len(sum.Errors) != 1 || sum.Errors[0].Kind != "hang" || sum.Unjudged != 0 {
		t.Errorf("a command that cannot be killed: %+v, %v", sum, err)
	}
}

// TestCommandLimitHasBounds: the agent accepts no longer time-out.
func TestCommandLimitHasBounds(t *testing.T) {
	cfg := toy(t, "", 1, 1)
	cfg.CommandLimit = 2 * time.Hour
	if _, err := explore.Run(context.Background(), cfg); err == nil {
		t.Error("a limit of two hours was accepted")
	}
}
