package mutants

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"fsward/interp/detect"
	"fsward/invariants"
)

const sample = `% Rule 1. A comment, with a comma. And a full stop.
violation(1, 2, k(A, extent_item, B)) :-
  add(2, k(A, extent_item, B)),
  ( B < 4096 ; B =:= 0x10 ), % here too
  not(shared(A, 'it''s, one')).

shared(A, _) :- query(2, k(A, extent_item, _)).
violation(2, 0, k(0, super_block, 0)) :- fail.
`

func TestMutantsOfAClause(t *testing.T) {
	var got []string
	for _, m := range Mutants([]invariants.File{{Name: "a.pl", Text: []byte(sample)}}) {
		if m.Line == 2 {
			got = append(got, m.String())
		}
	}
	want := []string{
		"1 clause 1: removed",
		"1 clause 1: without add(2, k(A, extent_item, B))",
		"1 clause 1: add(2, k(A, extent_item, B)) becomes add(3, k(A, extent_item, B))",
		"1 clause 1: without ( B < 4096 ; B =:= 0x10 )",
		"1 clause 1: ( B < 4096 ; B =:= 0x10 ) becomes ( B =< 4096 ; B =:= 0x10 )",
		"1 clause 1: ( B < 4096 ; B =:= 0x10 ) becomes ( B < 4097 ; B =:= 0x10 )",
		`1 clause 1: ( B < 4096 ; B =:= 0x10 ) becomes ( B < 4096 ; B =\= 0x10 )`,
		"1 clause 1: ( B < 4096 ; B =:= 0x10 ) becomes ( B < 4096 ; B =:= 17 )",
		"1 clause 1: ( B < 4096 ; B =:= 0x10 ) becomes ( fail ; B =:= 0x10 )",
		"1 clause 1: ( B < 4096 ; B =:= 0x10 ) becomes ( true ; B =:= 0x10 )",
		"1 clause 1: ( B < 4096 ; B =:= 0x10 ) becomes ( B < 4096 ; fail )",
		"1 clause 1: ( B < 4096 ; B =:= 0x10 ) becomes ( B < 4096 ; true )",
		"1 clause 1: without not(shared(A, 'it''s, one'))",
	}
	if !slices.Equal(got, want) {
		t.Errorf("mutants:\n%s\nwant:\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

func TestGoalsInBrackets(t *testing.T) {
	for goal, want := range map[string][]string{
		"( A > 1 -> f(A, B), not(g(B), B < 2) ; true )": {
			"( A > 1 -> f(A, B), not(true, B < 2) ; true )",
			"( A > 1 -> f(A, B), not(g(B), true) ; true )",
			"( fail ; true )",
			"( true -> f(A, B), not(g(B), B < 2) ; true )",
			"( A > 1 -> true, not(g(B), B < 2) ; true )",
			"( A > 1 -> f(A, B), true ; true )",
			"( A > 1 -> f(A, B), not(g(B), B < 2) ; fail )",
		},
		"count((f(X), g(X)), 0)": {"count((true, g(X)), 0)", "count((f(X), true), 0)"},
		"\\+ ( f(X) ; g )": {"\\+ ( fail ; g )", "\\+ ( true ; g )", "\\+ ( f(X) ; fail )",
			"\\+ ( f(X) ; true )"},
		"not(f(A, k(B, C)))":     nil,
		"X is (A + 1) * (B - 2)": nil,
	} {
		var got []string
		for _, d := range dropEdits(goal) {
			got = append(got, goal[:d.from]+d.text+goal[d.to:])
		}
		if !slices.Equal(got, want) {
			t.Errorf("%s becomes\n%s\nwant:\n%s", goal, strings.Join(got, "\n"), strings.Join(want, "\n"))
		}
	}
}

// TestBodiesAreConjunctions checks that no rule's body is an alternative or a condition without
// brackets. dropEdits could not drop the goals of such a body.
func TestBodiesAreConjunctions(t *testing.T) {
	for _, fs := range detect.RuleSets() {
		files, err := invariants.Builtin(fs)
		if err != nil {
			t.Fatal(err)
		}
		for _, c := range parse(files).clauses {
			for _, g := range c.goals {
				if len(split(c.text, g, ";")) > 1 || len(split(c.text, g, "->")) > 1 {
					t.Errorf("%s:%d: put brackets around this body: %s", c.file, c.line, c.text)
				}
			}
		}
	}
}

func TestDroppedGoalsLeaveAClause(t *testing.T) {
	for _, m := range Mutants([]invariants.File{{Name: "a.pl", Text: []byte(sample)}}) {
		if !strings.HasPrefix(m.What, "without") || m.Rule != "1" {
			continue
		}
		if c := clauses("", string(m.files[0].Text)); len(c) != 2 || len(c[0].goals) != 2 {
			t.Errorf("%s leaves\n%s", m, m.files[0].Text)
		}
	}
}

// TestFilesOfAMutant checks that a mutant consists of the rules that its clause belongs to, and of
// the predicates that these rules use.
func TestFilesOfAMutant(t *testing.T) {
	for _, m := range Mutants([]invariants.File{{Name: "a.pl", Text: []byte(sample)}}) {
		if m.What != "removed" {
			continue
		}
		var names []string
		for _, c := range clauses("", string(m.files[0].Text)) {
			names = append(names, c.id())
		}
		got := fmt.Sprint(m.Clause, m.rules, names)
		switch got {
		case "1 clause 1[1] [shared]", "shared clause 1[1] [1]", "2 clause 1[2] []":
		default:
			t.Errorf("unexpected clause, rules and predicates of a mutant: %s", got)
		}
	}
}

// TestNoRuleCanGo checks for each rule that a unit test notices the removal of all its clauses.
func TestNoRuleCanGo(t *testing.T) {
	for _, fs := range detect.RuleSets() {
		files, err := invariants.Builtin(fs)
		if err != nil {
			t.Fatal(err)
		}
		subjects, err := Cases(fs, "../../invariants/testdata/cases/"+fs)
		if err != nil {
			t.Fatal(err)
		}
		rules := parse(files).rules()
		for _, rule := range rules {
			by, err := notice(context.Background(), detect.Schema(fs), without(files, rule), subjects)
			if err != nil || by == "" {
				t.Errorf("no unit test notices the removal of %s/%s: %v", fs, rule, err)
			}
		}
		if len(rules) < 5 {
			t.Errorf("%s: only %d rules were found", fs, len(rules))
		}
	}
}

// TestSurvivors checks that the unit tests notice exactly the mutants that are not listed with a
// reason. With -short it takes one mutant in three.
func TestSurvivors(t *testing.T) {
	for _, fs := range detect.RuleSets() {
		files, err := invariants.Builtin(fs)
		if err != nil {
			t.Fatal(err)
		}
		subjects, err := Cases(fs, "../../invariants/testdata/cases/"+fs)
		if err != nil {
			t.Fatal(err)
		}
		reasons, err := Reasons("testdata/" + fs + ".txt")
		if err != nil {
			t.Fatal(err)
		}
		mutants := Mutants(files)
		names := make(map[string]bool)
		for _, m := range mutants {
			if names[m.String()] {
				t.Errorf("%s: two mutants have the name %s", fs, m)
			}
			names[m.String()] = true
		}
		if testing.Short() {
			var some []*Mutant
			for i, m := range mutants {
				if i%3 == 0 {
					some = append(some, m)
				} else {
					delete(reasons, m.String())
				}
			}
			t.Logf("-short: %d of %d mutants of %s", len(some), len(mutants), fs)
			mutants = some
		}
		results, err := Run(context.Background(), detect.Schema(fs), mutants, subjects,
			runtime.GOMAXPROCS(0), t.Output())
		if err != nil {
			t.Fatal(err)
		}
		invalid, survived := 0, Survivors(results)
		for _, r := range results {
			if r.By == errInvalid.Error() {
				invalid++
			}
		}
		for _, r := range survived {
			if reasons[r.String()] == "" {
				t.Errorf("%s: %s:%d: no unit test notices this mutant, and it is not listed: %s",
					fs, r.File, r.Line, r)
			}
			delete(reasons, r.String())
		}
		for name := range reasons {
			t.Errorf("%s: listed, but a unit test notices it, or no such mutant exists: %s", fs, name)
		}
		t.Logf("%s: %d mutants: %d do not load, %d are noticed, %d are listed", fs, len(mutants), invalid,
			len(mutants)-invalid-len(survived), len(survived))
	}
}

func TestReasons(t *testing.T) {
	path := filepath.Join(t.TempDir(), "reasons.txt")
	for text, want := range map[string]string{
		"# It means\n# the same.\na: b\nc\n\n# Other.\nd": "" +
			"map[a: b:It means the same. c:It means the same. d:Other.]",
		"# Reason.\n\na":    "3: no comment gives the reason for this mutant",
		"# Reason.\na\na\n": "3: the mutant is listed twice",
	} {
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		got, err := Reasons(path)
		if s := fmt.Sprint(got, err); !strings.Contains(s, want) {
			t.Errorf("%q: %s, want %s", text, s, want)
		}
	}
}
