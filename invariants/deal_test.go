package invariants_test

import (
	"context"
	"testing"

	"github.com/google/go-cmp/cmp"

	"fsward/change"
	"fsward/invariants"
)

// forked is a generated view that several goroutines can ask: nothing in it changes.
type forked struct{ *generated }

func (f forked) Fork(*change.Names) change.View { return f }

// aNumber is a rule whose violations would be no keys. It holds by a sum, and sums are not made in a taste.
const aNumber = `violation(900, inode, I) :-
  add(5, k(I, inode_item, 0)),
  count(add(5, k(I, inode_ref, _)), 0).
`

// The verdict on a large transaction does not depend on how the rules are dealt: by what a taste of it shows the first time, by
// what they have cost afterwards, or not at all. Nothing of the taste stays.
func TestDealt(t *testing.T) {
	for _, flat := range []bool{false, true} {
		g := generate(70_000, flat)
		files, open := append(thesisRules(t), invariants.File{Name: "number.pl", Text: []byte(aNumber)}), invariants.Options{OpenVocabulary: true}
		alone, err := invariants.NewCompiled(g.txn.Schema, files, open)
		if err != nil {
			t.Fatal(err)
		}
		dealt, err := invariants.NewCompiled(g.txn.Schema, files, invariants.Parallel(open))
		if err != nil {
			t.Fatal(err)
		}
		want := alone.Check(context.Background(), g.txn, g)
		if len(want.Violations) == 0 {
			t.Fatal("nothing is violated")
		}
		for i := range 3 {
			got := dealt.Check(context.Background(), g.txn, forked{g})
			if d := difference(want, got); d != "" {
				t.Fatalf("flat %v, check %d (-alone +dealt):\n%s", flat, i+1, d)
			}
			if d := cmp.Diff(rows(alone), rows(dealt)); d != "" {
				t.Errorf("flat %v, check %d: rows of rules (-alone +dealt):\n%s", flat, i+1, d)
			}
		}
	}
}

// rows returns what each rule spent of its budget.
func rows(e *invariants.Compiled) (list []int64) {
	for _, t := range e.Timing() {
		list = append(list, t.Rows)
	}
	return list
}
