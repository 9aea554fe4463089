package explore_test

import (
	"context"
	"fmt"
	"path/filepath"
	"testing"

	"fsward/explore"
)

// door opens and closes. What is wrong with it shows while it is closed, once it was tried often enough since the program began.
type door struct {
	explore.Plain
	open         bool
	turns, tries int
}

func (d *door) Init(*explore.Env) error {
	d.open, d.turns = false, 0
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
		d.turns++
		return nil
	}
	if d.tries > 40 {
		return explore.Failuref("ajar", "after %d turns", d.turns)
	}
	return nil
}

func (d *door) Check(*explore.Env, explore.Crash) error { return nil }

func (d *door) Signature(*explore.Env) ([]byte, error) { return fmt.Appendf(nil, "%d", d.turns), nil }

// Steps that undo each other cannot be left out one by one; in pairs they can.
func TestPairsOfStepsAreLeftOut(t *testing.T) {
	cfg := toy(t, "", 1, 1)
	d := &door{}
	cfg.Stack.Checker, cfg.Strategy, cfg.Restore, cfg.Depth = d, explore.DepthFirst, explore.ByReplay, 12
	got, err := explore.Run(context.Background(), cfg)
	if err != nil || len(got.Errors) != 1 {
		t.Fatalf("%+v, %v", got.Errors, err)
	}
	e, err := explore.ReadError(filepath.Join(cfg.Dir, got.Errors[0].Dir))
	if err != nil {
		t.Fatal(err)
	}
	if len(e.Steps) != 1 || e.Summary != "after 0 turns" {
		t.Errorf("%d steps, %q", len(e.Steps), e.Summary)
	}
}
