package guard_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"go.uber.org/zap"

	"fsward/blocktap"
	"fsward/change"
	"fsward/hostd/guard"
)

// TestSeverityActs checks that a violation of a rule with the severity pause is held, and one of
// any other rule is treated as --on-violation says. --on-violation is the most that a violation
// does.
func TestSeverityActs(t *testing.T) {
	of := func(severities ...string) *guard.Event {
		ev := &guard.Event{Outcome: change.Violated}
		for _, s := range severities {
			ev.Violations = append(ev.Violations, change.Violation{Rule: "site/x", Severity: s})
		}
		return ev
	}
	for _, test := range []struct {
		name, onViolation string
		ev                *guard.Event
		held, refused     bool
	}{
		{"refuse", guard.OnRefuse, of(""), false, true},
		{"pause", guard.OnRefuse, of("pause"), true, false},
		{"pause and log", guard.OnRefuse, of("pause", "log"), true, false},
		{"pause and refuse", guard.OnRefuse, of("pause", ""), false, true},
		{"refuse under pause", guard.OnPause, of(""), true, false},
		{"pause under log", guard.OnLog, of("pause"), false, false},
		{"refuse under log", guard.OnLog, of(""), false, false},
	} {
		t.Run(test.name, func(t *testing.T) {
			holder := guard.NewHolder(nil, zap.NewNop())
			policy := guard.PolicyOf(guard.Policies{OnViolation: test.onViolation}, holder)
			done := make(chan error, 1)
			go func() { done <- policy.Decide(context.Background(), test.ev) }()
			held := false
			for released := false; !released; {
				select {
				case err := <-done:
					if held != test.held || errors.Is(err, blocktap.ErrRefused) != test.refused {
						t.Errorf("held %v, %v", held, err)
					}
					released = true
				case <-time.After(time.Millisecond):
					if ev, _ := holder.Held(); ev != nil && holder.Release(true) == nil {
						held = true
					}
				}
			}
		})
	}
}

// TestPauseNeedsControl checks that a guard does not start with rules that pause if nobody could
// decide.
func TestPauseNeedsControl(t *testing.T) {
	dir := t.TempDir()
	writeRule(t, dir, "ext3/x.pl", "% Severity: pause\nviolation(x, inode, I) :- add(inode, I).\n")
	rules, err := guard.RulesConfig{Add: []string{dir}}.Load()
	if err != nil {
		t.Fatal(err)
	}
	cfg := guard.Config{Policies: guard.Policies{OnViolation: guard.OnRefuse}}
	if err := guard.CheckPause(&cfg, rules); err == nil ||
		!strings.Contains(err.Error(), "--control") {
		t.Errorf("without a control socket: %v", err)
	}
	cfg.Control = true
	if err := guard.CheckPause(&cfg, rules); err != nil {
		t.Errorf("with a control socket: %v", err)
	}
}

// TestRefusedCommitCountsOnce checks that a refused commit is counted once, although Btrfs writes
// further copies of its superblock.
func TestRefusedCommitCountsOnce(t *testing.T) {
	commits, refused := guard.CountEvents(
		refusedAt8(guard.KindCommit, false), refusedAt8(guard.KindWrite, true),
		refusedAt8(guard.KindCommit, false))
	if commits != 2 || refused != 2 {
		t.Errorf("%d commits, %d refused", commits, refused)
	}
}

// refusedAt8 returns the event of a write that was refused.
func refusedAt8(kind string, repeats bool) *guard.Event {
	return &guard.Event{Kind: kind, Generation: 8, Outcome: change.Violated, Action: guard.Refused,
		Repeats: repeats}
}

// TestSeverityIsReported checks that the violation of a log rule is in the text and the JSON of the
// report, with its severity.
func TestSeverityIsReported(t *testing.T) {
	ev := &guard.Event{Kind: guard.KindCommit, FS: "ext3", Outcome: change.Holds, Action: guard.Passed,
		RulesHash: "0123456789abcdef", Violations: []change.Violation{
			{Rule: "site/x", Severity: "log"}, {Rule: "site/y", Exempt: "root's"}}}
	var text strings.Builder
	guard.NewTextReport(&text).Event(ev)
	line, err := ev.MarshalJSON()
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"holds; only logged: site/x; exempt: site/y", "severity   log",
		"exempt     root's"} {
		if !strings.Contains(text.String(), want) {
			t.Errorf("no %q in\n%s", want, text.String())
		}
	}
	for _, want := range []string{`"verdict":"holds"`, `"rules_hash":"0123456789abcdef"`,
		`"rule":"site/x","kind":"","severity":"log"`, `"severity":"refuse","exempt":"root's"`} {
		if !strings.Contains(string(line), want) {
			t.Errorf("no %s in %s", want, line)
		}
	}
}

// writeRule writes a file of rules into a folder.
func writeRule(t *testing.T, dir, name, text string) {
	t.Helper()
	path := filepath.Join(dir, name)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

// TestBaselineHasTheRulesInForce checks that the check of a baseline judges by the rules in force,
// even if their files have changed since.
func TestBaselineHasTheRulesInForce(t *testing.T) {
	dir := t.TempDir()
	writeRule(t, dir, "ext3/x.pl", "violation(before, inode, I) :- add(inode, I).\n")
	rules, err := guard.RulesConfig{Add: []string{dir}}.Load()
	if err != nil {
		t.Fatal(err)
	}
	writeRule(t, dir, "ext3/x.pl", "violation(after, inode, I) :- add(inode, I).\n")
	again, err := rules.Again()
	if err != nil {
		t.Fatal(err)
	}
	list := again.List("ext3")
	last := list[len(list)-1].Name
	if last != "site/before" || again.Info().Hash != rules.Info().Hash {
		t.Errorf("the last rule is %s, the hash %s", last, again.Info().Hash)
	}
}
