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

// aNumber is a rule whose violations would be no keys. It holds by a sum.
const aNumber = `violation(900, inode, I) :-
  add(5, k(I, inode_item, 0)),
  count(add(5, k(I, inode_ref, _)), 0).
`

// Two halves say of a large transaction what one says, and their rules have spent what they spend alone where something does not hold.
func TestHalves(t *testing.T) {
	for _, flat := range []bool{false, true} {
		g := generate(70_000, flat)
		files, open := append(thesisRules(t), invariants.File{Name: "number.pl", Text: []byte(aNumber)}), invariants.Options{OpenVocabulary: true}
		alone, halves := compiled(t, g, files, open), compiled(t, g, files, invariants.Parallel(open))
		want := alone.Check(context.Background(), g.txn, g)
		if len(want.Violations) == 0 {
			t.Fatal("nothing is violated")
		}
		for i := range 3 {
			got := halves.Check(context.Background(), g.txn, forked{g})
			if d := difference(want, got); d != "" {
				t.Fatalf("flat %v, check %d (-alone +halves):\n%s", flat, i+1, d)
			}
			if d := cmp.Diff(rows(alone), rows(halves)); d != "" {
				t.Errorf("flat %v, check %d: rows of rules (-alone +halves):\n%s", flat, i+1, d)
			}
		}
	}
}

// Of what holds each record is judged by one half or the other, and a rule that proves nothing looks at as much as one half alone. One
// that needs nearly all of its budget is left undecided by both, which may spend less, and judged to its end by one.
func TestHalvesOfWhatHolds(t *testing.T) {
	g := generate(70_000, false)
	const rule = `violation(1, T, k(I, inode_item, 0)) :-
  add(T, k(I, inode_item, 0)),
  not(add(T, k(I, inode_ref, a(_, _)))),
  not(add(T, k(I, inode_item, 1))),
  not(add(T, k(I, extent_data, _))).
`
	files, open := []invariants.File{{Name: "holds.pl", Text: []byte(rule)}}, invariants.Options{OpenVocabulary: true}
	alone := compiled(t, g, files, open)
	check := func(e *invariants.Compiled) {
		t.Helper()
		if v := e.Check(context.Background(), g.txn, forked{g}); v.Outcome != change.Holds {
			t.Fatalf("outcome %v: %v %v", v.Outcome, v.Violations, v.Undecided)
		}
		if d := cmp.Diff(rows(alone), rows(e)); d != "" {
			t.Errorf("rows (-alone +halves):\n%s", d)
		}
	}
	if alone.Check(context.Background(), g.txn, g); rows(alone)[0] < 2 {
		t.Fatalf("rows of the rule: %d", rows(alone)[0])
	}
	check(compiled(t, g, files, invariants.Parallel(open)))
	open.RowsPerRecord = 4
	check(compiled(t, g, files, open))
	check(compiled(t, g, files, invariants.Parallel(open)))
}

func compiled(t *testing.T, g *generated, files []invariants.File, o invariants.Options) *invariants.Compiled {
	t.Helper()
	e, err := invariants.NewCompiled(g.txn.Schema, files, o)
	if err != nil {
		t.Fatal(err)
	}
	return e
}

// rows returns what each rule spent of its budget.
func rows(e *invariants.Compiled) (list []int64) {
	for _, t := range e.Timing() {
		list = append(list, t.Rows)
	}
	return list
}
