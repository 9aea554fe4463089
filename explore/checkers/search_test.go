//go:build bench

package checkers

import (
	"context"
	"strconv"
	"testing"
	"time"

	"fsward/explore"
)

// TestSearchTable logs, for each planted bug and each strategy, after how many executions it is
// found: the rows of docs/results/search.md.
func TestSearchTable(t *testing.T) {
	const most = 4000 // executions
	sum := make(map[explore.Strategy]uint64)
	missed := make(map[explore.Strategy]int)
	for _, bug := range plantedBugs {
		if bug.checker == "leaks" {
			continue // each execution takes seconds
		}
		row := "| " + bug.bug + " | " + bug.checker + " |"
		for _, s := range explore.Strategies() {
			cfg, _ := config(t, bug.checker, bug.bug, bug.options, 0)
			ctx, stop := context.WithTimeout(context.Background(), 10*time.Minute)
			found := false
			cfg.OnEvent = func(e explore.Event) {
				if e.Event == "error" {
					found = true
					stop()
				}
			}
			cfg.Strategy, cfg.Runs, cfg.Seed, cfg.Depth = s, most, 1, 12
			cfg.Crash.Limit = 16
			got, err := explore.Run(ctx, cfg)
			stop()
			if err != nil {
				t.Errorf("%s, %s: %v", bug.bug, s, err)
			}
			sum[s] += got.Runs
			if !found {
				missed[s]++
				row += " – |"
				continue
			}
			row += " " + strconv.FormatUint(got.Runs, 10) + " |"
		}
		t.Log(row)
	}
	for _, s := range explore.Strategies() {
		t.Logf("%s: %d executions in all, %d bugs not found in %d", s, sum[s], missed[s], most)
	}
}
