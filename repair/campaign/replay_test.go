package campaign

import (
	"context"
	"errors"
	"strings"
	"testing"
)

// Of a program that never prints the same twice, each field has one finding, which replays.
func TestVaryingMessages(t *testing.T) {
	found := test(t, plantedConfig(t, "varies", "toy"), 40)
	groups := map[string]bool{}
	for _, f := range found[Crash] {
		if !f.Varies || f.Shown != f.Replays || f.Replays == 0 || groups[f.Group] {
			t.Errorf("%s: %+v", f.Group, f.Failure)
		}
		groups[f.Group] = true
	}
	if len(groups) == 0 {
		t.Error("found nothing")
	}
}

// What was found when the time was up is replayed, unless it is late.
func TestReplaysAfterTheTime(t *testing.T) {
	for _, late := range []bool{false, true} {
		cfg := plantedConfig(t, "crashes", "toy")
		cfg.Replays = 2
		c, w := plantedWorker(t, cfg)
		w.late = func() bool { return late }
		over, cancel := context.WithCancel(t.Context())
		cancel()
		found := make(chan *Finding, 64)
		for n := range uint64(12) {
			d, err := c.model.At(n)
			if err != nil {
				t.Fatal(err)
			}
			if err := c.tryMode(over, w, d, &c.program.Repairs[0], &damageCount{}, found); err != nil {
				t.Fatal(err)
			}
		}
		want := 2
		if late {
			want = 0
		}
		if len(found) == 0 {
			t.Fatal("found nothing")
		}
		if f := <-found; f.Replays != want || f.Shown != want {
			t.Errorf("late %v: shown %d times of %d, want %d", late, f.Shown, f.Replays, want)
		}
	}
}

// TestReplayEnds replays a finding and is told to end: the program does not run.
func TestReplayEnds(t *testing.T) {
	found := test(t, plantedConfig(t, "crashes", "toy"), 12)
	if len(found[Crash]) == 0 {
		t.Fatalf("found %v", found)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := Replay(ctx, found[Crash][0].path, 1); !errors.Is(err, context.Canceled) {
		t.Errorf("%v, want that it was canceled", err)
	}
}

// A trial that repeats a failure makes only the costly check that found it, also if the same was
// asked before.
func TestRepeatedChecks(t *testing.T) {
	need(t, "mkfs.minix")
	cfg := plantedConfig(t, "lies", "minix1")
	cfg.Checks = []string{Mount}
	c, w := plantedWorker(t, cfg)
	m := &c.program.Repairs[0]
	d, err := c.model.At(0)
	if err != nil {
		t.Fatal(err)
	}
	w.damage, w.again = *d, true
	for only, want := range map[string]bool{"": true, Mount: true, Consistency: false,
		Interrupt: false} {
		for range 2 {
			w.only = only
			if got := w.mounts(m, &Run{}); got != want {
				t.Errorf("a failure of %q: Linux is asked: %v", only, got)
			}
		}
	}
	w.again, w.only = false, ""
	if w.mounts(m, &Run{}) {
		t.Error("Linux is asked again")
	}
}

// The checks of a replay are those that can show the finding, and all for a finding that does not
// say which check found it.
func TestNeededChecks(t *testing.T) {
	for check, want := range map[string]string{"": "agree harmless mounts completeness",
		Consistency: "agree harmless", Mount: "agree harmless mounts",
		Complete: "agree harmless completeness"} {
		f := Finding{Checks: []string{Agree, Harmless, Mount, Complete}, Failure: Failure{Check: check}}
		if got := strings.Join(f.needs(), " "); got != want {
			t.Errorf("%q: %s, want %s", check, got, want)
		}
	}
}
