package invariants_test

import (
	"context"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"fsward/change"
	"fsward/interp/btrfs"
	"fsward/interp/ext3"
	"fsward/invariants"
	"fsward/shareddata"
)

func compiledEngine(t testing.TB, s *change.Schema, files []invariants.File,
	o invariants.Options) *invariants.Compiled {
	t.Helper()
	e, err := invariants.NewCompiled(s, files, o)
	if err != nil {
		t.Fatal(err)
	}
	return e
}

// TestCompiledThesisRules checks that the rules as printed in the thesis find what SWI-Prolog finds
// in the shared transactions.
func TestCompiledThesisRules(t *testing.T) {
	for _, name := range []string{"tree-1k", "tree-10k", "tree-41k", "flat-42k"} {
		t.Run(name, func(t *testing.T) {
			f := loadFacts(t, shareddata.Path(t, "rules", name+".pl.zst"))
			e := compiledEngine(t, f.Txn.Schema, thesisRules(t), invariants.Options{OpenVocabulary: true})
			for _, fallback := range e.Fallbacks() {
				t.Errorf("%+v", fallback)
			}
			for range 2 {
				start := time.Now()
				v := e.Check(context.Background(), f.Txn, f.View)
				t.Logf("%d records in %v %+v", len(f.Txn.Records), time.Since(start), e.Timing())
				if len(v.Undecided) > 0 {
					t.Errorf("undecided %v", v.Undecided)
				}
				if d := cmp.Diff(expected(t, shareddata.Path(t, "rules", name+".expected.tsv")),
					lines(v.Violations)); d != "" {
					t.Errorf("violations (-SWI-Prolog +compiled):\n%s", d)
				}
			}
			if testing.Verbose() && name == "tree-1k" {
				for _, r := range e.Rules() {
					plans, _ := e.Explain(r.Name)
					for _, p := range plans {
						t.Logf("%s %s trigger %s", p.Rule, p.Source, p.Trigger)
						for _, s := range p.Steps {
							t.Logf("  %*s%s  [%s: %s] %s", s.Depth*2, "", s.Goal, s.Access, s.Class, s.Warning)
						}
					}
				}
			}
		})
	}
}

// TestShippedRulesCompile checks that all shipped rules compile.
func TestShippedRulesCompile(t *testing.T) {
	for _, s := range []*change.Schema{btrfs.Schema(), ext3.Schema()} {
		files, err := invariants.Builtin(s.FS)
		if err != nil {
			t.Fatal(err)
		}
		e := compiledEngine(t, s, files, invariants.Options{})
		for _, fallback := range e.Fallbacks() {
			t.Errorf("%s at %s is interpreted: %s", fallback.Rule, fallback.Source, fallback.Why)
		}
	}
}

// TestVariableTwiceInAHead checks that a variable that occurs twice in a head makes two arguments
// of a call equal in its own clause, and not in other clauses.
func TestVariableTwiceInAHead(t *testing.T) {
	f := parseFacts(t, "change(2,k(10,extent_item,7),object,null,present).\n"+
		"change(2,k(20,metadata_item,0),object,null,present).")
	e := newBoth(t, f.Txn.Schema, `
size(extent_item, LENGTH, LENGTH).
size(metadata_item, _, 16).
violation(length, 2, k(E,KIND,SIZE)) :- add(2, k(E,KIND,X)), size(KIND, X, SIZE).
violation(known, 2, k(E,KIND,X)) :- add(2, k(E,KIND,X)), SIZE is E - 3, size(KIND, X, SIZE).
violation(negated, 2, k(E,KIND,X)) :- add(2, k(E,KIND,X)), \+ size(KIND, X, X).
`, invariants.Options{OpenVocabulary: true})
	v := e.Check(context.Background(), f.Txn, f.View)
	var got []string
	for _, x := range v.Violations {
		got = append(got, x.Rule+" "+x.ID)
	}
	want := []string{"btrfs/known k(10,extent_item,7)", "btrfs/length k(10,extent_item,7)",
		"btrfs/length k(20,metadata_item,16)",
		"btrfs/negated k(20,metadata_item,0)"}
	if d := cmp.Diff(want, got); d != "" || len(v.Undecided) > 0 {
		t.Errorf("(-want +got):\n%s%v", d, v.Undecided)
	}
}
