package invariants_test

import (
	"context"
	"slices"
	"sync"
	"testing"

	"fsward/interp/detect"
	"fsward/invariants"
)

// aMistake compares a name with a number, which the reference engine reports.
const aMistake = `violation(901, T, k(I, inode_ref, S)) :-
  new(T, k(I, inode_ref, S), name, NAME), NAME > 3.
`

// TestEnginesShareRules judges one transaction by several engines of the same rules at the same
// time. The first of them compiles the rules. All reach the verdict of an engine that shares
// nothing, with one worker and with two, and report what the reference engine says of a mistake.
func TestEnginesShareRules(t *testing.T) {
	g := generate(5_000, false)
	files, open := append(thesisRules(t),
		invariants.File{Name: "number.pl", Text: []byte(aNumber + aMistake)}),
		invariants.Options{OpenVocabulary: true}
	want := compiled(t, g, files, open).Check(context.Background(), g.txn, g)
	if len(want.Violations) == 0 || len(want.Undecided) == 0 {
		t.Fatalf("%d violations, undecided %q", len(want.Violations), want.Undecided)
	}
	late := open
	late.Late = true
	first := compiled(t, g, files, late)
	var wg sync.WaitGroup
	for i := range 6 {
		options := late
		if i%2 > 0 {
			options = invariants.Parallel(late)
		}
		fork := *g.txn
		fork.Names = g.txn.Names.Fork()
		wg.Go(func() {
			e, err := first.Again(options)
			if err != nil {
				t.Error(err)
				return
			}
			for range 3 {
				if d := difference(want, e.Check(context.Background(), &fork, forked{g})); d != "" {
					t.Errorf("engine %d (-alone +shared):\n%s", i, d)
				}
			}
		})
	}
	wg.Wait()
}

// TestBuiltinRulesAreShared checks that only engines of the built-in rules as they are share them:
// a changed text and a setting make other rules, before and after.
func TestBuiltinRulesAreShared(t *testing.T) {
	schema := detect.Schema("ext3")
	files, err := invariants.Builtin("ext3")
	if err != nil {
		t.Fatal(err)
	}
	rules := func(files []invariants.File, settings map[string]invariants.Setting) []invariants.Rule {
		t.Helper()
		e, err := invariants.NewCompiled(schema, files,
			invariants.Options{Settings: settings, Late: true})
		if err != nil {
			t.Fatal(err)
		}
		return e.Rules()
	}
	all := rules(files, nil)
	longer := slices.Clone(files)
	longer[0].Text = append(slices.Clone(longer[0].Text),
		"\nviolation(999, T, I) :- add(T, I), I = 1.\n"...)
	if got := rules(longer, nil); len(got) != len(all)+1 {
		t.Errorf("%d rules with one more, and %d without", len(got), len(all))
	}
	name := all[0].Name
	off := rules(files, map[string]invariants.Setting{name: {Off: true}})
	if len(off) != len(all)-1 {
		t.Errorf("%d rules with one off, and %d without", len(off), len(all))
	}
	severity := rules(files, map[string]invariants.Setting{name: {Severity: "log"}})
	if severity[0].Severity != "log" || all[0].Severity == "log" {
		t.Errorf("severity %q with the setting, and %q without", severity[0].Severity, all[0].Severity)
	}
	if again := rules(files, nil); !slices.Equal(again, all) {
		t.Error("the built-in rules are other ones afterwards")
	}
}
