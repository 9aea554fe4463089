package campaign

import (
	"errors"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"fsward/interp"
	"fsward/repair/damage"
)

// TestShare gives a finding only a part of the time while other damages wait, and replays it as
// often as asked when none waits any more.
func TestShare(t *testing.T) {
	cfg := plantedConfig(t, "twice", "toy")
	cfg.Workers, cfg.Replays, cfg.Checks = 1, 40, nil
	dir := filepath.Join(t.TempDir(), "out")
	c, err := Create(t.Context(), dir, cfg)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	least := cfg.Replays // that a finding had while others waited
	limits := Limits{Time: 2 * time.Second, Damages: 3}
	if _, _, err = c.Run(t.Context(), limits, func(e Event) {
		if e.Finding != nil {
			least = min(least, e.Finding.Replays)
		}
	}); err != nil {
		t.Fatal(err)
	}
	list, err := LoadFindings(dir)
	if err != nil || len(list) == 0 {
		t.Fatalf("%d findings, %v", len(list), err)
	}
	for _, f := range list {
		if f.Replays != cfg.Replays || f.Shown != cfg.Replays {
			t.Errorf("%s was shown %d times of %d", f.Dir, f.Shown, f.Replays)
		}
	}
	if least == cfg.Replays {
		t.Error("a finding was replayed 40 times in a tenth of a second")
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

// TestTarget goes on behind crash states that show another failure than the one to be repeated.
func TestTarget(t *testing.T) {
	cfg := plantedConfig(t, "hasty", "toy")
	cfg.Checks = []string{Interrupt}
	c, w := plantedWorker(t, cfg)
	for _, messages := range [][]string{nil, {"another"}} {
		w.aim(&Failure{Kind: Undo, Check: Interrupt, Messages: messages})
		got, err := w.try([]interp.Patch{{Off: 8, Data: []byte{1}}}, &c.program.Repairs[0])
		if err != nil {
			t.Fatal(err)
		}
		if want := messages == nil; want != (len(got.failures) == 1) {
			t.Errorf("with messages %q: found %v", messages, got.failures)
		}
	}
}

// A replay that the end of the time cuts short says nothing, and does not count. The damage of a
// repair that was cut short is left, so that resume tries it again.
func TestCutReplays(t *testing.T) {
	cfg := plantedConfig(t, "hasty", "toy")
	cfg.Checks, cfg.Replays = []string{Interrupt}, 2
	c, w := plantedWorker(t, cfg)
	m := &c.program.Repairs[0]
	damaged := []interp.Patch{{Off: 8, Data: []byte{1}}}
	w.again = true
	shown, err := w.try(damaged, m)
	if err != nil || len(shown.failures) == 0 {
		t.Fatalf("found nothing: %v", err)
	}
	f := c.finding(&damage.Damage{Group: "first", Patches: damaged}, m, shown, shown.failures[0])
	if err := f.setPatches(w.base, damaged, shown); err != nil {
		t.Fatal(err)
	}
	late := 0
	w.late = func() bool { late++; return late > 1 } // the time ends in the first replay
	if err := w.confirm(t.Context(), f, m, 2); err != nil {
		t.Fatal(err)
	}
	if f.Replays != 0 || f.Shown != 0 {
		t.Errorf("shown %d times of %d", f.Shown, f.Replays)
	}
	late = 0
	err = c.tryMode(t.Context(), w, &damage.Damage{Patches: damaged}, m, &damageCount{},
		make(chan *Finding, 8))
	if !errors.Is(err, errLate) {
		t.Errorf("a repair that was cut short: %v", err)
	}
}

// A tally says what the replays showed that did not show the finding.
func TestTally(t *testing.T) {
	f := &Finding{Failure: Failure{Kind: Disagree}}
	f.count(f, &trial{failures: []Failure{{Kind: Disagree}}})
	f.count(f, &trial{failures: []Failure{{Kind: Hang}}})
	f.count(f, &trial{failures: []Failure{{Kind: Hang}}})
	f.count(f, &trial{failures: []Failure{{Kind: Rules}, {Kind: Lost}}})
	f.count(f, &trial{})
	const want = "shown in 1 of 5 replays, hang instead: 2, lost and rules instead: 1, " +
		"nothing instead: 1"
	if got := f.Summary(); got != want {
		t.Errorf("%s; want %s", got, want)
	}
}
