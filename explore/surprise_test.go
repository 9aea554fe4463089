package explore_test

import (
	"context"
	"slices"
	"strings"
	"testing"

	"fsward/explore"
	"fsward/explore/agent"
	"fsward/explore/exploretest"
)

// A surprised checker finds surprises where a ToyChecker finds nothing.
type surprised struct{ exploretest.ToyChecker }

func (c *surprised) Check(e *explore.Env, crash explore.Crash) error {
	if err := c.ToyChecker.Check(e, crash); err != nil {
		return err
	}
	e.Surprise("empty", "", "a name leads to an empty file")
	e.Surprise(explore.Repaired, explore.Recovered, "a block was free")
	return nil
}

// TestSurprises checks that surprises are a class of their own: they do not end an execution, and
// are no errors unless they are asked for. They replay.
func TestSurprises(t *testing.T) {
	for _, c := range []struct {
		way    explore.Surprises
		strict bool
		broken int
		kinds  []string
	}{
		{explore.ReportSurprises, false, 0, []string{"empty", explore.Repaired}},
		{explore.ReportSurprises, true, 1, []string{explore.Repaired}},
		{explore.SurprisesAreError, false, 1, []string{"empty"}},
	} {
		plain := toy(t, "", 2, 1)
		want, err := explore.Run(context.Background(), plain)
		if err != nil {
			t.Fatal(err)
		}
		cfg := toy(t, "", 2, 1)
		cfg.Stack.Checker = &surprised{exploretest.ToyChecker{Keys: 2, Values: 1}}
		cfg.Surprises, cfg.StrictRecovery = c.way, c.strict
		sum, err := explore.Run(context.Background(), cfg)
		if err != nil || !sum.Complete {
			t.Fatalf("%+v, %v", sum, err)
		}
		var kinds []string
		for i, e := range sum.Errors {
			kinds = append(kinds, e.Kind)
			if kind := replay(t, cfg, readError(t, cfg, sum, i)); kind != e.Kind {
				t.Errorf("%s: the replay shows %q", e.Kind, kind)
			}
		}
		if sum.Broken() != c.broken || !slices.Equal(kinds, c.kinds) {
			t.Errorf("%s, strict %v: %d errors, %v; want %d, %v", c.way, c.strict, sum.Broken(), kinds,
				c.broken, c.kinds)
		}
		if c.broken == 0 && sum.States != want.States {
			t.Errorf("%d states with surprises, %d without", sum.States, want.States)
		}
	}
}

// A useless checker is surprised, and what was recovered cannot be used.
type useless struct{ surprised }

func (*useless) Use(*explore.Env) error { return explore.Failuref("cannot be used", "no space") }

// TestInspectionAfterSurprise checks that a crash state with a surprise is inspected, too.
func TestInspectionAfterSurprise(t *testing.T) {
	cfg := toy(t, "", 1, 1)
	cfg.Stack.Checker = &useless{surprised{exploretest.ToyChecker{Keys: 1, Values: 1}}}
	cfg.Inspect = true
	sum, err := explore.Run(context.Background(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	is := func(e explore.Error) bool { return e.Kind == "cannot be used" && e.Shown == e.Replays }
	if !slices.ContainsFunc(sum.Errors, is) {
		t.Errorf("found %+v", sum.Errors)
	}
}

// twoBugs has two bugs of one kind: one in put, and one in sync.
type twoBugs struct {
	explore.Plain
	n int
}

func (c *twoBugs) Init(*explore.Env) error { c.n = 0; return nil }

func (c *twoBugs) Mutate(e *explore.Env) error {
	name := []string{"put", "remove", "other"}[e.Choose(3)]
	if _, err := e.RunCommand(agent.Command{Args: []string{name}}); err != nil {
		return err
	}
	if c.n++; c.n > 1 && name != "other" {
		return explore.Failuref("lost", "by %s", name)
	}
	return nil
}

func (c *twoBugs) Check(*explore.Env, explore.Crash) error { return nil }

// TestTwoBugsAreTwoErrors checks that two bugs of one kind and one property are two errors. Further
// failures of each are counted.
func TestTwoBugsAreTwoErrors(t *testing.T) {
	cfg := toy(t, "", 1, 1)
	cfg.Stack.Checker, cfg.Depth, cfg.Strategy = new(twoBugs), 3, explore.BreadthFirst
	sum, err := explore.Run(context.Background(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	last := make(map[string]uint64)
	for _, e := range sum.Errors {
		did := e.Did[len(e.Did)-1]
		last[strings.Fields(did[0])[0]] += e.Count
	}
	if last["put"] == 0 || last["remove"] == 0 || len(sum.Errors) > 6 {
		t.Errorf("%v of %d errors: %+v", last, len(sum.Errors), sum.Errors)
	}
}
