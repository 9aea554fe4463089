package invariants_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"fsward/change"
	"fsward/invariants"
)

// TestSlowRuleLeavesTheOthers checks that under the budget of a judgment, one slow rule is
// undecided by itself: the report names it, with its goal and its time, and the other rules are
// judged.
func TestSlowRuleLeavesTheOthers(t *testing.T) {
	var text strings.Builder
	for i := range 2000 {
		id := fmt.Sprintf("5, k(256,dir_index,%d)", i)
		fmt.Fprintf(&text, "change(%s, object, null, present).\nobject(%s).\n", id, id)
	}
	f := parseFacts(t, text.String())
	const rules = `violation(slow, T, I) :-
  add(T, k(I,dir_index,X)), add(T, k(I,dir_index,Y)), Y > X + 9999.
violation(quick, T, k(256,dir_index,7)) :- add(T, k(256,dir_index,7)).`
	for name, o := range map[string]invariants.Options{"one worker": {OpenVocabulary: true},
		"two workers": invariants.Parallel(invariants.Options{OpenVocabulary: true})} {
		e, err := invariants.NewCompiled(f.Txn.Schema,
			[]invariants.File{{Name: "test.pl", Text: []byte(rules)}}, o)
		if err != nil {
			t.Fatal(err)
		}
		f.Txn.Work = change.NewWorkBudget(change.WorkLimits{Base: 1_000_000}).Begin()
		v := e.Check(context.Background(), f.Txn, f.View)
		if v.Outcome != change.Violated || len(v.Violations) != 1 || len(v.Undecided) != 1 {
			t.Fatalf("%s: %s %v %v", name, v.Outcome, v.Violations, v.Undecided)
		}
		for _, want := range []string{"btrfs/slow at test.pl:1: more than the 250000 steps that one " +
			"rule may take", "at change(T,k(I,dir_index,Y)", "it took "} {
			if !strings.Contains(v.Undecided[0], want) {
				t.Errorf("%s: no %q in %q", name, want, v.Undecided[0])
			}
		}
		slow := e.Timing()[0]
		if slow.Rule != "btrfs/slow" || slow.Rows < 250_000 || slow.Last == 0 {
			t.Errorf("%s: the time of the slow rule: %+v", name, slow)
		}
	}
}

// TestSlowSiteRuleComesLast checks that slow rules of a site leave the built-in rules as they are,
// and the site's quick ones, however many they are.
func TestSlowSiteRuleComesLast(t *testing.T) {
	var text strings.Builder
	for i := range 3000 {
		id := fmt.Sprintf("5, k(256,dir_index,%d)", i)
		fmt.Fprintf(&text, "change(%s, object, null, present).\nobject(%s).\n", id, id)
	}
	f := parseFacts(t, text.String())
	load := func(site bool, rules string) invariants.Engine {
		e, err := invariants.NewCompiled(f.Txn.Schema, []invariants.File{{Name: "test.pl",
			Text: []byte(rules), Site: site}}, invariants.Options{OpenVocabulary: true})
		if err != nil {
			t.Fatal(err)
		}
		return e
	}
	var slow strings.Builder
	for i := range 8 { // with a quarter each, they would take more than the judgment may
		fmt.Fprintf(&slow, "violation(slow%d, T, I) :- add(T, k(I,dir_index,X)), "+
			"add(T, k(I,dir_index,Y)), Y > X + 9999.\n", i)
	}
	slow.WriteString("violation(quick, T, k(256,dir_index,9)) :- add(T, k(256,dir_index,9)).\n")
	l := invariants.NewLayers(nil, load(false, "violation(1, T, k(256,dir_index,7)) :- "+
		"add(T, k(256,dir_index,7)).\n"), load(true, slow.String()))
	f.Txn.Work = change.NewWorkBudget(change.WorkLimits{Base: 1_000_000}).Begin()
	v := l.Check(context.Background(), f.Txn, f.View)
	if v.Outcome != change.Violated || len(v.Violations) != 2 ||
		v.Violations[0].Rule != "btrfs/1" || v.Violations[1].Rule != "site/quick" {
		t.Errorf("%s %v", v.Outcome, v.Violations)
	}
	if len(v.Undecided) != 8 {
		t.Errorf("%d rules are undecided: %q", len(v.Undecided), v.Undecided)
	}
	for i, u := range v.Undecided {
		if want := fmt.Sprintf("site/slow%d at test.pl:%d: more than the ", i, i+1); !strings.Contains(u,
			want) {
			t.Errorf("no %q in %q", want, u)
		}
	}
}
