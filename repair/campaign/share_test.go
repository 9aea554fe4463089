package campaign

import (
	"path/filepath"
	"strings"
	"testing"
	"time"

	"fsward/interp"
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

// TestLate leaves out the crash states of a repair, which may be thousands, when the time is up.
func TestLate(t *testing.T) {
	for bug, late := range map[string]bool{"careless": false, "careless ": true, "hasty": false,
		"hasty ": true} {
		cfg := plantedConfig(t, strings.TrimSpace(bug), "toy")
		cfg.Checks = []string{Interrupt}
		c, w := plantedWorker(t, cfg)
		w.late = func() bool { return late }
		w.again = true
		damaged := []interp.Patch{{Off: 8, Data: []byte{1}}}
		got, err := w.try(damaged, &c.program.Repairs[0])
		if err != nil {
			t.Fatal(err)
		}
		if found := len(got.failures) > 0; found == late {
			t.Errorf("%q, late %v: found %v", bug, late, got.failures)
		}
	}
}
