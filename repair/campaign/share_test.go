package campaign

import (
	"path/filepath"
	"testing"
	"time"
)

// TestShare ends a campaign in time although its findings are to be replayed very often: each gets
// only a part of the time, and the damages behind it are tried.
func TestShare(t *testing.T) {
	cfg := plantedConfig(t, "twice", "toy")
	cfg.Workers, cfg.Replays, cfg.Checks = 1, 100_000, nil
	c, err := Create(t.Context(), filepath.Join(t.TempDir(), "out"), cfg)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	var first *Finding
	p, _, err := c.Run(t.Context(), Limits{Time: 6 * time.Second, Damages: 12}, func(e Event) {
		if first == nil {
			first = e.Finding
		}
	})
	if err != nil {
		t.Fatal(err)
	}
	if first == nil || first.Replays >= cfg.Replays || first.Replays == 0 {
		t.Errorf("the first finding: %+v", first)
	}
	if p.Next < 12 {
		t.Errorf("only %d damages were tried", p.Next)
	}
}
