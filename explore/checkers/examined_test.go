package checkers

import (
	"context"
	"strings"
	"testing"

	"fsward/explore"
	"fsward/explore/agent"
	"fsward/explore/exploretest"
)

// TestUnexamined explores with scripts that examine something or nothing. A run that has examined
// nothing says so, and is not taken for one that found nothing.
func TestUnexamined(t *testing.T) {
	for mutate, want := range map[string]string{
		"[good, {crash: now}]":                   "",
		"[good, bad, {crash: now}]":              "",
		"[{crash: start}, {crash: end}]":         "",
		"[good]":                                 "none of the 1 steps asked for a crash",
		"[bad, {crash: now}]":                    "all 1 commands of the checker failed",
		"[{choose: [[bad], [bad]]}]":             "all 2 commands of the checker failed",
		"[{run: bad, must: true}]":               "", // it is a failure
		"[good, {mark: a}]\ncrashes: []":         "none of the 1 steps",
		"[good, {mark: a}]\ncrashes: [after: a]": "",
	} {
		sum := exploredScript(t.Context(), t, "mutate: "+mutate+"\ncheck: good")
		if got := sum.Unexamined(); want == "" && got != "" || !strings.Contains(got, want) {
			t.Errorf("%s: %q, want %q", mutate, got, want)
		}
	}
	stopped, cancel := context.WithCancel(t.Context())
	cancel()
	sum := exploredScript(stopped, t, "mutate: [good, {crash: now}]\ncheck: good")
	if got := sum.Unexamined(); !strings.Contains(got, "time was up before the first step") {
		t.Errorf("a run that was stopped at once: %q", got)
	}
}

// exploredScript explores a script of the commands good and bad.
func exploredScript(ctx context.Context, t *testing.T, text string) *explore.Summary {
	t.Helper()
	cfg, _ := config(t, "sync", "", fakePromises, 1)
	script, err := parseScript([]byte(text), fakeAt)
	if err != nil {
		t.Fatal(err)
	}
	cfg.Stack.Checker = script
	system := cfg.System.(*exploretest.System)
	system.Programs["sh"] = func(s *exploretest.System, c agent.Command) (agent.Exit, error) {
		if c.Args[2] == "bad" {
			return agent.Exit{Code: 1}, nil
		}
		return agent.Exit{}, nil
	}
	sum, err := explore.Run(ctx, cfg)
	if err != nil {
		t.Fatal(err)
	}
	return &sum
}

// TestCrashless: a checker that tries no crash by design has examined something without one. The
// first step of the checker sync asks for none, either, and that shows nothing.
func TestCrashless(t *testing.T) {
	crashless := map[string]bool{"failed-syscalls": true, "silent": true, "sync": false}
	for checker, want := range crashless {
		cfg, ctx := config(t, checker, "", fakePromises, 1)
		cfg.Runs = 1
		sum, err := explore.Run(ctx, cfg)
		if err != nil {
			t.Fatal(err)
		}
		if got := sum.Unexamined(); (got == "") != want || sum.Crashless != want {
			t.Errorf("%s: %q, without crashes by design: %t", checker, got, sum.Crashless)
		}
	}
}

// TestCutShort: the crash states of a step that the end of the run cuts short are counted apart.
// The step is executed again when the run is resumed.
func TestCutShort(t *testing.T) {
	cfg, _ := config(t, "sync", "", fakePromises, 1)
	text := "mutate: [good, {crash: now}, {crash: now}]\ncheck: good"
	script, err := parseScript([]byte(text), fakeAt)
	if err != nil {
		t.Fatal(err)
	}
	cfg.Stack.Checker, cfg.NoPrune = script, true
	ctx, cancel := context.WithCancel(t.Context())
	system := cfg.System.(*exploretest.System)
	checks := 0
	system.Programs["sh"] = func(*exploretest.System, agent.Command) (agent.Exit, error) {
		if checks++; checks == 2 { // the first is the step itself
			cancel()
		}
		return agent.Exit{}, nil
	}
	for _, want := range [][2]uint64{{0, 1}, {2, 1}} {
		sum, err := explore.Run(ctx, cfg)
		if err != nil {
			t.Fatal(err)
		}
		if got := [2]uint64{sum.CrashStates, sum.CutShort}; got != want || sum.Unexamined() != "" {
			t.Errorf("crash states %d, want %d; %q", got, want, sum.Unexamined())
		}
		ctx = t.Context()
	}
}
