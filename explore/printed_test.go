package explore_test

import (
	"context"
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"fsward/explore"
	"fsward/explore/agent"
	"fsward/explore/crash"
	"fsward/explore/exploretest"
)

// TestRecoveryIsKept checks that the output of the commands of a recovery is kept. The error names
// a command that reports success and prints that it failed. It also says how often it showed, and
// which flags its replay needs.
func TestRecoveryIsKept(t *testing.T) {
	cfg := toy(t, exploretest.DroppedFlush, 1, 1)
	cfg.ReplayFlags = []string{"--guest", "another"}
	s := system(cfg)
	toyProgram := s.Programs["toy"]
	s.Programs["toy"] = func(s *exploretest.System, c agent.Command) (agent.Exit, error) {
		x, err := toyProgram(s, c)
		if c.Args[1] == "mount" {
			x.Stderr = []byte("replaying the log\nrepair failed: 2 blocks\n")
		}
		return x, err
	}
	sum, err := explore.Run(context.Background(), cfg)
	if err != nil || len(sum.Errors) != 1 {
		t.Fatalf("%+v, %v", sum, err)
	}
	e := readError(t, cfg, sum, 0)
	if e.Crash.Complaint != "repair failed: 2 blocks" || e.Shown != 3 || e.Replays != 3 {
		t.Errorf("complaint %q, shown in %d of %d", e.Crash.Complaint, e.Shown, e.Replays)
	}
	for name, want := range map[string][]string{
		"recovery.log": {"$ toy mount\nreplaying the log\nrepair failed: 2 blocks\n(exit status 0)"},
		"what.txt": {"printed: repair failed: 2 blocks", "It was shown in 3 of 3 replays.",
			"fsward explore replay --guest another " + cfg.Dir},
	} {
		text, err := os.ReadFile(filepath.Join(cfg.Dir, e.Dir, name))
		if err != nil {
			t.Fatal(err)
		}
		for _, part := range want {
			if !strings.Contains(string(text), part) {
				t.Errorf("%s lacks %q: %s", name, part, text)
			}
		}
	}
}

// TestPossibleIsFinite checks that the number of possible states stays finite, so that JSON can
// hold it.
func TestPossibleIsFinite(t *testing.T) {
	total := 0.0
	for range 3 {
		total = crash.AddPossible(total, math.MaxFloat64)
	}
	if _, err := json.Marshal(explore.Totals{Possible: total}); err != nil {
		t.Error(err)
	}
	units := make([]crash.Event, 3000)
	for i := range units {
		w := crash.Write{ID: uint64(i + 1), Off: uint64(i) * crash.SectorSize, Len: crash.SectorSize}
		units[i] = crash.Event{Kind: crash.Issued, At: uint64(i), Write: w}
	}
	log := func(yield func(crash.Event, error) bool) {
		for _, ev := range append(slices.Clone(units), crash.Event{Kind: crash.Settled, All: true}) {
			if !yield(ev, nil) {
				return
			}
		}
	}
	stats, err := crash.Each(zeros(4<<20), log, crash.Options{Limit: 1},
		func(*crash.State) error { return nil })
	if err != nil || stats.Possible != math.MaxFloat64 {
		t.Errorf("%g possible states, %v", stats.Possible, err)
	}
}

// zeros is a disk of zeros, of that many bytes.
type zeros uint64

func (z zeros) Size() uint64 { return uint64(z) }

func (z zeros) ReadAt(b []byte, _ int64) (int, error) {
	clear(b)
	return len(b), nil
}

// A logReader is a ToyChecker that judges by the log: each write before a sync has a flush behind
// it.
type logReader struct{ exploretest.ToyChecker }

func (c *logReader) Check(_ *explore.Env, crash explore.Crash) error {
	dirty := 0
	for _, t := range crash.Log() {
		switch t.What {
		case "write":
			dirty++
		case "flush":
			dirty = 0
		}
	}
	if dirty > 0 {
		return explore.Failuref("not flushed", "%d writes", dirty)
	}
	return nil
}

// TestCheckReadsTheLog checks that Check reads the log up to the crash. It finds a missing flush
// without a lost byte.
func TestCheckReadsTheLog(t *testing.T) {
	for _, bug := range []exploretest.Bug{"", exploretest.DroppedFlush} {
		cfg := toy(t, bug, 2, 1)
		cfg.Stack.Checker = &logReader{exploretest.ToyChecker{Keys: 2, Values: 1}}
		sum, err := explore.Run(context.Background(), cfg)
		if err != nil || (len(sum.Errors) == 1) != (bug != "") {
			t.Errorf("%q: %+v, %v", bug, sum, err)
		}
	}
}
