package campaign

import (
	"context"
	"errors"
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
			if err := c.tryMode(over, w, d, &c.program.Repairs[0], found); err != nil {
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
	if _, _, _, err := Replay(ctx, found[Crash][0].path); !errors.Is(err, context.Canceled) {
		t.Errorf("%v, want that it was canceled", err)
	}
}
