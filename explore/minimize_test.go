package explore_test

import (
	"context"
	"fmt"
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
