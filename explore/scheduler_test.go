package explore_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"fsward/explore"
	"fsward/explore/exploretest"
)

// flushed returns a configuration for a toy with a thread.
func flushed(t *testing.T, bug exploretest.Bug, eager int) explore.Config {
	t.Helper()
	cfg := toy(t, bug, 2, 1)
	cfg.Strategy, cfg.Depth = explore.BreadthFirst, 3
	startThread(cfg, &exploretest.Flusher{Eager: eager, Turns: 1000})
	return cfg
}

// startThread gives the toy of a configuration a thread.
func startThread(cfg explore.Config, f *exploretest.Flusher) {
	cfg.Stack.Top.(*exploretest.Toy).Run(system(cfg), f)
}

// TestTurns checks that a failure that needs a thread to run between two steps is found if threads
// are scheduled, with each method to reach states. It replays. It is not found if threads run
// freely.
func TestTurns(t *testing.T) {
	for _, restore := range explore.Restorings() {
		for _, wait := range []time.Duration{0, time.Second} {
			cfg := flushed(t, exploretest.LazySync, -1)
			cfg.Threads, cfg.Restore = wait, restore
			sum, err := explore.Run(context.Background(), cfg)
			if err != nil || !sum.Complete || sum.Diverged != 0 || sum.Unscheduled != 0 {
				t.Fatalf("%s: %+v, %v", restore, sum, err)
			}
			if found := len(sum.Errors) == 1; found != (wait > 0) || (sum.Idle > 0) != (wait > 0) {
				t.Errorf("%s, threads %v: %d idle, errors %+v", restore, wait, sum.Idle, sum.Errors)
			}
			if wait == 0 {
				continue
			}
			e := readError(t, cfg, sum, 0)
			last := e.Did[len(e.Did)-1]
			if !slices.Contains(last, "toyd runs") || len(e.Steps) != 2 {
				t.Errorf("%s: %v", restore, e.Did)
			}
			for range 3 {
				if replay(t, cfg, e) == "" {
					t.Errorf("%s: replay shows no failure", restore)
				}
			}
			var diverged *explore.DivergedError
			startThread(cfg, &exploretest.Flusher{Eager: -1})
			if f, err := explore.Replay(context.Background(), cfg, e); !errors.As(err, &diverged) {
				t.Errorf("%s: replay with an idle thread did not diverge: %v, %v", restore, f, err)
			}
		}
	}
}

// TestTurnsAreStates checks that a state that the thread has changed is another state. With
// scheduled threads, the number of executions is that of an enumeration in which the thread may
// write before each step.
func TestTurnsAreStates(t *testing.T) {
	cfg := flushed(t, "", -1)
	cfg.Threads, cfg.Depth = time.Second, 2
	sum, err := explore.Run(context.Background(), cfg)
	if err != nil || len(sum.Errors) != 0 {
		t.Fatal(sum, err)
	}
	// At first the thread has no work. The first step is a sync, which leads to no new state, or it
	// puts or removes one of two keys. After each of these four, there are five steps, each with and
	// without the thread.
	if want := uint64(1 + 5 + 4*(5+5)); sum.Runs != want || sum.Idle != 1 {
		t.Errorf("%d executions, %d of them idle; want %d and 1", sum.Runs, sum.Idle, want)
	}
	without := flushed(t, "", -1)
	without.Depth = 2
	plain, err := explore.Run(context.Background(), without)
	if err != nil {
		t.Fatal(err)
	}
	if sum.States <= plain.States {
		t.Errorf("%d states with scheduled threads, %d without", sum.States, plain.States)
	}
}

// TestUnscheduled checks that executions with an unscheduled thread are reported, and are no
// errors.
func TestUnscheduled(t *testing.T) {
	cfg := flushed(t, "", 1)
	cfg.Threads = time.Second
	events := 0
	cfg.OnEvent = func(e explore.Event) {
		if e.Event == "strayed" && strings.HasPrefix(e.Text, "toyd ran") {
			events++
		}
	}
	sum, err := explore.Run(context.Background(), cfg)
	if err != nil || len(sum.Errors) != 0 {
		t.Errorf("%+v, %v", sum, err)
	}
	if sum.Unscheduled == 0 || int(sum.Unscheduled) != events || sum.Unscheduled >= sum.Runs {
		t.Errorf("%d of %d executions, and %d events", sum.Unscheduled, sum.Runs, events)
	}

	// An error after an unscheduled thread names the thread.
	cfg = flushed(t, exploretest.LazySync, 0)
	cfg.Threads = time.Second
	if sum, err = explore.Run(context.Background(), cfg); err != nil || len(sum.Errors) != 1 {
		t.Fatal(sum, err)
	}
	if e := readError(t, cfg, sum, 0); !slices.Equal(e.Unscheduled, []string{"toyd"}) {
		t.Errorf("unscheduled threads %v, want toyd", e.Unscheduled)
	}
}

// TestTurnDiverges checks that a replay diverges if a thread has no work that had work in the
// recorded run.
func TestTurnDiverges(t *testing.T) {
	for turns, diverges := range map[int]bool{1000: false, 5: true} {
		cfg := toy(t, "", 2, 1)
		cfg.Strategy, cfg.Restore = explore.BreadthFirst, explore.ByReplay
		cfg.Depth, cfg.Threads = 3, time.Second
		startThread(cfg, &exploretest.Flusher{Eager: -1, Turns: turns})
		text := ""
		cfg.OnEvent = func(e explore.Event) {
			if e.Event == "diverged" {
				text = e.Text
			}
		}
		sum, err := explore.Run(context.Background(), cfg)
		if err != nil || (sum.Diverged > 0) != diverges {
			t.Errorf("%d turns: %+v, %v", turns, sum.Totals, err)
		}
		if diverges && !strings.Contains(text, "toyd, which has") {
			t.Errorf("%d turns: the event says %q", turns, text)
		}
	}
}

// TestCheckThreads checks that Config.Threads must be 0 to 10 s.
func TestCheckThreads(t *testing.T) {
	for wait, ok := range map[time.Duration]bool{
		0: true, 10 * time.Second: true, 11 * time.Second: false, -1: false,
	} {
		if err := explore.CheckThreads(wait); (err == nil) != ok {
			t.Errorf("%v: %v", wait, err)
		}
	}
}
