package checkers

import (
	"context"
	"testing"

	"fsward/explore"
	"fsward/explore/model"
)

// TestCoverVisitsWhatBreadthVisits checks that both strategies execute the same steps if they have
// the time, with the same results.
func TestCoverVisitsWhatBreadthVisits(t *testing.T) {
	for _, checker := range []string{"sync", "failed-syscalls", "silent"} {
		var all []explore.Totals
		for _, s := range []explore.Strategy{explore.BreadthFirst, explore.Cover} {
			cfg, _ := config(t, checker, "", model.Promises{}, 2)
			cfg.Stack.Checker.(interface{ core() *Core }).core().Limits.Files = 1
			cfg.Strategy = s
			sum, err := explore.Run(context.Background(), cfg)
			if err != nil || !sum.Complete || len(sum.Errors) > 0 {
				t.Fatalf("%s, %s: %+v, %v", checker, s, sum, err)
			}
			all = append(all, sum.Totals)
		}
		a, b := all[0], all[1]
		if a.States != b.States || a.Runs != b.Runs || a.Waiting != 0 || b.Waiting != 0 {
			t.Errorf("%s: %+v\n%+v", checker, a, b)
		}
	}
}

// TestCoverTriesEachOperationFirst checks the order of the steps of one depth.
func TestCoverTriesEachOperationFirst(t *testing.T) {
	cfg, _ := config(t, "sync", "", none, 1)
	cfg.Strategy, cfg.Runs = explore.Cover, 3
	sum, err := explore.Run(context.Background(), cfg)
	if err != nil || sum.States != 4 { // a file, a symbolic link and a directory, each synced
		t.Errorf("%+v, %v", sum, err)
	}
}
