package invariants_test

import (
	"context"
	"fmt"
	"os"
	"sort"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"fsward/change"
	"fsward/invariants"
	"fsward/invariants/facts"
	"fsward/shareddata"
)

func thesisRules(t testing.TB) []invariants.File {
	t.Helper()
	text, err := os.ReadFile("testdata/thesis.pl")
	if err != nil {
		t.Fatal(err)
	}
	return []invariants.File{{Name: "testdata/thesis.pl", Text: text}}
}

func loadFacts(t testing.TB, path string) *facts.Facts {
	t.Helper()
	f, err := facts.Load(path)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// lines formats violations like NAME.expected.tsv: rule, tree, id; sorted.
func lines(violations []change.Violation) []string {
	var out []string
	for _, v := range violations {
		_, number, _ := strings.Cut(v.Rule, "/")
		out = append(out, fmt.Sprintf("%s\t%s\t%s", number, v.Tree, v.ID))
	}
	sort.Strings(out)
	return out
}

func expected(t testing.TB, path string) []string {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	out := strings.Split(strings.TrimSpace(string(text)), "\n")
	sort.Strings(out)
	return out
}

// TestThesisRules checks that the rules as printed in the thesis find what SWI-Prolog finds in the
// shared transactions.
func TestThesisRules(t *testing.T) {
	for _, name := range []string{"tree-1k", "tree-10k", "tree-41k", "flat-42k"} {
		t.Run(name, func(t *testing.T) {
			f := loadFacts(t, shareddata.Path(t, "rules", name+".pl.zst"))
			e, err := invariants.NewReference(f.Txn.Schema, thesisRules(t),
				invariants.Options{OpenVocabulary: true})
			if err != nil {
				t.Fatal(err)
			}
			start := time.Now()
			v := e.Check(context.Background(), f.Txn, f.View)
			took := time.Since(start)
			v.AddWitnesses(f.Txn)
			t.Logf("%d records in %v: %.0f records/s", len(f.Txn.Records), took,
				float64(len(f.Txn.Records))/took.Seconds())
			if len(v.Undecided) > 0 || v.Outcome != change.Violated {
				t.Errorf("outcome %v, undecided %v", v.Outcome, v.Undecided)
			}
			if d := cmp.Diff(expected(t, shareddata.Path(t, "rules", name+".expected.tsv")),
				lines(v.Violations)); d != "" {
				t.Errorf("violations (-SWI-Prolog +reference):\n%s", d)
			}
			for _, violation := range v.Violations {
				if len(violation.Witness) == 0 || len(violation.Witness) > 16 || violation.Source == "" ||
					violation.Doc == "" {
					t.Errorf("the violation lacks a witness, source or doc: %+v", violation)
				}
			}
		})
	}
}
