package explore_test

import (
	"context"
	"errors"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"fsward/explore"
	"fsward/explore/exploretest"
)

// flushed is a toy with a thread.
func flushed(t *testing.T, bug exploretest.Bug, eager int) explore.Config {
	t.Helper()
	cfg := toy(t, bug, 2, 1)
	cfg.Strategy, cfg.Depth = explore.BreadthFirst, 3
	cfg.Stack.Top.(*exploretest.Toy).Run(cfg.System.(*exploretest.System), &exploretest.Flusher{Eager: eager, Turns: 1000})
	return cfg
}

// What is lost only where a thread ran between two steps is found when threads take turns, in each way to restore a state, and not when they run
// as they like; and it replays.
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
				t.Errorf("%s, turns of %v: %d idle, found %+v", restore, wait, sum.Idle, sum.Errors)
			}
			if wait == 0 {
				continue
			}
			e, err := explore.ReadError(filepath.Join(cfg.Dir, sum.Errors[0].Dir))
			if err != nil {
				t.Fatal(err)
			}
			if last := e.Did[len(e.Did)-1]; !slices.Contains(last, "toyd runs") || len(e.Steps) != 2 {
				t.Errorf("%s: %v", restore, e.Did)
			}
			for range 3 {
				if found, err := explore.Replay(context.Background(), cfg, e); err != nil || found == nil {
					t.Errorf("%s: replayed: %v, %v", restore, found, err)
				}
			}
			var diverged *explore.DivergedError
			cfg.Stack.Top.(*exploretest.Toy).Run(cfg.System.(*exploretest.System), &exploretest.Flusher{Eager: -1})
			if found, err := explore.Replay(context.Background(), cfg, e); !errors.As(err, &diverged) {
				t.Errorf("%s: replayed with a thread that has nothing to do: %v, %v", restore, found, err)
			}
		}
	}
}

// A state that the thread has changed is another one: with turns there are those of an enumeration that has the thread write as one of the things
// to be done before a step.
func TestTurnsAreStates(t *testing.T) {
	cfg := flushed(t, "", -1)
	cfg.Threads, cfg.Depth = time.Second, 2
	sum, err := explore.Run(context.Background(), cfg)
	if err != nil || len(sum.Errors) != 0 {
		t.Fatal(sum, err)
	}
	// At first the thread has nothing to do. The first step is a sync, which leads nowhere, or one of two keys put or removed; after each of these
	// four five steps follow, with the thread or without.
	if want := uint64(1 + 5 + 4*(5+5)); sum.Runs != want || sum.Idle != 1 {
		t.Errorf("%d runs, %d of them idle, want %d with 1", sum.Runs, sum.Idle, want)
	}
	without := flushed(t, "", -1)
	without.Depth = 2
	plain, err := explore.Run(context.Background(), without)
	if err != nil {
		t.Fatal(err)
	}
	if sum.States <= plain.States {
		t.Errorf("%d states, %d without turns", sum.States, plain.States)
	}
}

// Runs in which the thread ran though it was held are told, and are no errors.
func TestStrayed(t *testing.T) {
	cfg := flushed(t, "", 1)
	cfg.Threads = time.Second
	told := 0
	cfg.OnEvent = func(e explore.Event) {
		if e.Event == "strayed" && strings.HasPrefix(e.Text, "toyd ran") {
			told++
		}
	}
	sum, err := explore.Run(context.Background(), cfg)
	if err != nil || len(sum.Errors) != 0 || sum.Unscheduled == 0 || int(sum.Unscheduled) != told || sum.Unscheduled >= sum.Runs {
		t.Errorf("told %d times: %+v, %v", told, sum, err)
	}

	// An error that comes of it says so.
	cfg = flushed(t, exploretest.LazySync, 0)
	cfg.Threads = time.Second
	if sum, err = explore.Run(context.Background(), cfg); err != nil || len(sum.Errors) != 1 {
		t.Fatal(sum, err)
	}
	if e, err := explore.ReadError(filepath.Join(cfg.Dir, sum.Errors[0].Dir)); err != nil || !slices.Equal(e.Unscheduled, []string{"toyd"}) {
		t.Errorf("strayed %v, %v", e.Unscheduled, err)
	}
}

// A thread that has nothing to do in a replay, and had, is a replay that diverged.
func TestTurnDiverges(t *testing.T) {
	for turns, diverges := range map[int]bool{1000: false, 5: true} {
		cfg := toy(t, "", 2, 1)
		cfg.Strategy, cfg.Depth, cfg.Threads, cfg.Restore = explore.BreadthFirst, 3, time.Second, explore.ByReplay
		cfg.Stack.Top.(*exploretest.Toy).Run(cfg.System.(*exploretest.System), &exploretest.Flusher{Eager: -1, Turns: turns})
		text := ""
		cfg.OnEvent = func(e explore.Event) {
			if e.Event == "diverged" {
				text = e.Text
			}
		}
		sum, err := explore.Run(context.Background(), cfg)
		if err != nil || (sum.Diverged > 0) != diverges || diverges && !strings.Contains(text, "toyd, which has") {
			t.Errorf("%d turns: %+v, %q, %v", turns, sum.Totals, text, err)
		}
	}
}

// How long a thread may take has a bound.
func TestCheckThreads(t *testing.T) {
	for wait, ok := range map[time.Duration]bool{0: true, 10 * time.Second: true, 11 * time.Second: false, -1: false} {
		if err := explore.CheckThreads(wait); (err == nil) != ok {
			t.Errorf("%v: %v", wait, err)
		}
	}
}
