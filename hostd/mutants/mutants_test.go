package mutants

import (
	"context"
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
			got = append(got, m.What)
		}
	}
	want := []string{
		"clause removed: violation(1, 2, k(A, extent_item, B)) :-",
		"goal dropped: add(2, k(A, extent_item, B))", "2 turned: add(2, k(A, extent_item, B))",
		"goal dropped: ( B < 4096 ; B =:= 0x10 )", "< turned: ( B < 4096 ; B =:= 0x10 )", "4096 turned: ( B < 4096 ; B =:= 0x10 )",
		"=:= turned: ( B < 4096 ; B =:= 0x10 )", "0x10 turned: ( B < 4096 ; B =:= 0x10 )",
		"goal dropped: not(shared(A, 'it''s, one'))",
	}
	if !slices.Equal(got, want) {
		t.Errorf("mutants:\n%s\nwant:\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

func TestDroppedGoalsLeaveAClause(t *testing.T) {
	for _, m := range Mutants([]invariants.File{{Name: "a.pl", Text: []byte(sample)}}) {
		if !strings.HasPrefix(m.What, "goal dropped") {
			continue
		}
		for _, c := range clauses(string(m.files[0].Text)) {
			if c.line == m.Line && len(c.goals) != 2 {
				t.Errorf("%s leaves %d goals, want 2", m.What, len(c.goals))
			}
		}
	}
}

func TestOnlyOneRule(t *testing.T) {
	left := clauses(string(only([]invariants.File{{Name: "a.pl", Text: []byte(sample)}}, "2")[0].Text))
	if len(left) != 2 || left[0].rule != "" || left[1].rule != "2" {
		t.Errorf("%+v, want the shared clause and rule 2", left)
	}
}

// A rule whose clauses are all gone is noticed by a unit test, each of them.
func TestNoRuleCanGo(t *testing.T) {
	for _, fs := range []string{"btrfs", "ext3"} {
		files, err := invariants.Builtin(fs)
		if err != nil {
			t.Fatal(err)
		}
		subjects, err := Cases(fs, "../../invariants/testdata/cases/"+fs)
		if err != nil {
			t.Fatal(err)
		}
		rules := make(map[string]bool)
		for _, f := range files {
			for _, c := range clauses(string(f.Text)) {
				if c.rule != "" {
					rules[c.rule] = true
				}
			}
		}
		for rule := range rules {
			without := make([]invariants.File, len(files))
			for i, f := range files {
				without[i] = invariants.File{Name: f.Name, Text: only([]invariants.File{f}, "no rule")[0].Text}
			}
			by, err := notice(context.Background(), detect.Schema(fs), &Mutant{Rule: rule, files: without}, subjects)
			if err != nil || by == "" {
				t.Errorf("%s/%s can be removed and no unit test notices: %v", fs, rule, err)
			}
		}
		if len(rules) < 5 {
			t.Errorf("%s: only %d rules were found", fs, len(rules))
		}
	}
}
