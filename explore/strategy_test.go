package explore_test

import (
	"context"
	"fmt"
	"testing"

	"fsward/explore"
	"fsward/explore/agent"
)

// A counting checker counts two numbers up. Its features are whether they are equal, and the first.
// A failure shows where the first is 10 and the second is 0.
type counting struct {
	explore.Plain
	n [2]uint32
}

func (c *counting) Init(*explore.Env) error { c.n = [2]uint32{}; return nil }

func (c *counting) Mutate(e *explore.Env) error {
	i := e.Choose(2)
	c.n[i]++
	if c.n == [2]uint32{10, 0} {
		return explore.Failuref("ten", "%v", c.n)
	}
	_, err := e.RunCommand(agent.Command{Args: []string{fmt.Sprint("count", i)}})
	return err
}

func (c *counting) Check(*explore.Env, explore.Crash) error { return nil }

func (c *counting) Signature(*explore.Env) ([]byte, error) { return fmt.Append(nil, c.n), nil }

func (c *counting) Features() []string { return []string{fmt.Sprint(c.n[0])} }

// TestUnseenPrefersRareParts checks that LeastSeen prefers states whose parts are rare: it finds a
// failure at a value that no state had before, in fewer executions than a breadth-first search.
func TestUnseenPrefersRareParts(t *testing.T) {
	runs := func(s explore.Strategy) uint64 {
		cfg := toy(t, "", 1, 1)
		cfg.Stack.Checker = new(counting)
		cfg.Strategy, cfg.Depth = s, 12
		ctx, stop := context.WithCancel(context.Background())
		defer stop()
		cfg.OnEvent = func(e explore.Event) {
			if e.Event == "error" {
				stop()
			}
		}
		sum, err := explore.Run(ctx, cfg)
		if err != nil || len(sum.Errors) != 1 {
			t.Fatalf("%s: %+v, %v", s, sum, err)
		}
		return sum.Runs
	}
	breadth, unseen := runs(explore.BreadthFirst), runs(explore.LeastSeen)
	t.Logf("%d runs by breadth, %d by rare features", breadth, unseen)
	if unseen*3 > breadth*2 {
		t.Errorf("%d runs by breadth, %d by rare features", breadth, unseen)
	}
}
