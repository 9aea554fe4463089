package main

import (
	"strings"
	"testing"

	"fsward/change"
	"fsward/explore"
)

// TestExchanged adds verdicts of runs, and reads what --exchange says about the layers.
func TestExchanged(t *testing.T) {
	for _, tc := range []struct {
		verdicts map[string]change.Outcome
		text     string
		verdict  change.Outcome
	}{
		{map[string]change.Outcome{"unsafe": change.Violated, "none": change.Holds},
			"errors were found with cache=unsafe, and no error with cache=none: the cause is in what cache",
			change.Violated},
		{map[string]change.Outcome{"none": change.Holds}, "no error was found with cache=none",
			change.Holds},
		{map[string]change.Outcome{"none": change.Violated}, "with each of cache=none: the cause is in " +
			"another layer", change.Violated},
		{map[string]change.Outcome{"none": change.Holds, "unsafe": change.Undecided},
			"no error was found with cache=none; nothing was examined with cache=unsafe",
			change.Undecided},
		{map[string]change.Outcome{"none": change.Undecided}, "no run has examined anything",
			change.Undecided},
	} {
		e := exchanged{Parameter: "cache"}
		for value, verdict := range tc.verdicts {
			e.add(value, verdict)
		}
		if got := e.blame(); !strings.Contains(got, tc.text) ||
			e.verdict() != tc.verdict {
			t.Errorf("%v: %v, %q", tc.verdicts, e.verdict(), got)
		}
	}
}

// TestUnjudgedIsSaid: a run in which a command was too slow says so, and does not say that
// everything is explored.
func TestUnjudgedIsSaid(t *testing.T) {
	var out, log strings.Builder
	p := &exploreProgress{out: &out, err: &log}
	p.event(explore.Event{Event: "unjudged", Text: "a command exceeded 1m0s: hg verify"})
	p.explored(explore.Summary{Totals: explore.Totals{States: 2, Runs: 2, CrashStates: 9,
		Unjudged: 3}}, "dir")
	const want = "2 states, 9 crash states, 3 not judged, 0 errors in 0 s; " +
		"everything else is explored\n"
	if out.String() != want || log.String() != "not judged: a command exceeded 1m0s: hg verify\n" {
		t.Errorf("%q on stdout, %q on stderr", out.String(), log.String())
	}
}

// TestSampleIsSaid: a run that tried a sample of the crash states does not say that everything is
// explored.
func TestSampleIsSaid(t *testing.T) {
	for sampled, want := range map[uint64]string{
		0: "2 states, 21 crash states, 0 errors in 9 s; everything is explored\n",
		4: "2 states, 21 crash states (4 moments sampled), 0 errors in 9 s; " +
			"everything else is explored\n",
	} {
		var out strings.Builder
		p := exploreProgress{out: &out}
		p.explored(explore.Summary{Complete: true, Totals: explore.Totals{States: 2, Runs: 2,
			CrashStates: 21, Sampled: sampled, Seconds: 9}}, "dir")
		if out.String() != want {
			t.Errorf("%q, want %q", out.String(), want)
		}
	}
}

// TestOneIsSaid: one of each is in the singular, and what failed before a recovery is counted.
func TestOneIsSaid(t *testing.T) {
	var out strings.Builder
	p := exploreProgress{out: &out}
	p.explored(explore.Summary{Complete: true, Totals: explore.Totals{States: 1, Runs: 1,
		CrashStates: 1, Sampled: 1, ProcessCrashes: 2, MountFaults: 1, Edges: 1, CommitKnown: 1,
		CommitContents: 1, CommitLogged: 2}}, "dir")
	const want = "1 state, 1 crash state (1 moment sampled), 2 process crashes, 1 call that failed " +
		"in a mount before the recovery, 1 tree compared with the last commit, with the contents of 1 " +
		"file; 2 entries left out, which a log may change; 1 edge of kernel code, 0 errors in 0 s; " +
		"everything else is explored\n"
	if out.String() != want {
		t.Errorf("%q, want %q", out.String(), want)
	}
}

// TestUndecidedIsSaid: a run that has examined nothing says so on stderr and in JSON.
func TestUndecidedIsSaid(t *testing.T) {
	for _, asJSON := range []bool{false, true} {
		var out, log strings.Builder
		p := exploreProgress{out: &out, err: &log, json: asJSON}
		p.explored(explore.Summary{Totals: explore.Totals{Runs: 3}}, "dir")
		if want := "dir: undecided: no crash state was examined"; !strings.HasPrefix(log.String(), want) {
			t.Errorf("stderr: %q, want %q", log.String(), want)
		}
		if want := `"verdict":"undecided","reason":"no crash state`; asJSON &&
			!strings.Contains(out.String(), want) {
			t.Errorf("%s, want %s", out.String(), want)
		}
	}
}
