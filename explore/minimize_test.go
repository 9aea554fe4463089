package explore_test

import (
	"context"
	"fmt"
	"slices"
	"testing"

	"fsward/explore"
)

// A door is a checker that opens and closes. It fails while it is closed, once it was tried more
// than 40 times since the program began.
type door struct {
	explore.Plain
	open    bool
	toggles int // since Init
	tries   int // since the program began
}

func (d *door) Init(*explore.Env) error {
	d.open, d.toggles = false, 0
	return nil
}

func (d *door) Mutate(e *explore.Env) error {
	d.tries++
	ways := uint32(2)
	if d.open {
		ways = 1
	}
	if e.Choose(ways) == 0 {
		d.open = !d.open
		d.toggles++
		return nil
	}
	if d.tries > 40 {
		return explore.Failuref("ajar", "after %d turns", d.toggles)
	}
	return nil
}

func (d *door) Check(*explore.Env, explore.Crash) error { return nil }

func (d *door) Signature(*explore.Env) ([]byte, error) {
	return fmt.Appendf(nil, "%d", d.toggles), nil
}

// TestPairsOfStepsAreLeftOut checks that minimization leaves out pairs of steps that undo each
// other, which cannot be left out one by one.
func TestPairsOfStepsAreLeftOut(t *testing.T) {
	cfg := toy(t, "", 1, 1)
	cfg.Stack.Checker, cfg.Depth = &door{}, 12
	cfg.Strategy, cfg.Restore = explore.DepthFirst, explore.ByReplay
	got, err := explore.Run(context.Background(), cfg)
	if err != nil || len(got.Errors) != 1 {
		t.Fatalf("%+v, %v", got.Errors, err)
	}
	if e := readError(t, cfg, got, 0); len(e.Steps) != 1 || e.Summary != "after 0 turns" {
		t.Errorf("got %d steps and %q, want 1 step after 0 turns", len(e.Steps), e.Summary)
	}
}

// A walk is a checker of one step of ten parts. It fails at a mark after its third part, if the
// seventh was performed, too.
type walk struct {
	explore.Plain
	walked bool
}

func (w *walk) Init(*explore.Env) error {
	w.walked = false
	return nil
}

func (w *walk) Mutate(e *explore.Env) error {
	if w.walked {
		return nil
	}
	w.walked = true
	var did []int
	for i := range 10 {
		if !e.LeavesOut(explore.Part{Site: "a part"}) {
			did = append(did, i)
		}
	}
	if slices.Contains(did, 3) && slices.Contains(did, 7) {
		return explore.Failuref("walked", "%v", did)
	}
	return nil
}

func (w *walk) Check(*explore.Env, explore.Crash) error { return nil }

func (w *walk) Signature(*explore.Env) ([]byte, error) { return fmt.Append(nil, w.walked), nil }

// TestPartsAreLeftOut checks that an exploration performs all parts of a step, and that the error
// has only those that it needs and replays so.
func TestPartsAreLeftOut(t *testing.T) {
	for _, s := range explore.Strategies() {
		cfg := toy(t, "", 1, 1)
		cfg.Stack.Checker, cfg.Strategy = &walk{}, s
		got, err := explore.Run(context.Background(), cfg)
		if err != nil || len(got.Errors) != 1 || got.Runs != 1 {
			t.Fatalf("%s: %d executions, %+v, %v", s, got.Runs, got.Errors, err)
		}
		if e := readError(t, cfg, got, 0); e.Summary != "[3 7]" {
			t.Errorf("%s: the error needs the parts %s, want [3 7]", s, e.Summary)
		}
	}
}
