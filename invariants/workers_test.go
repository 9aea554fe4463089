package invariants_test

import (
	"context"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"fsward/change"
	"fsward/invariants"
)

// forked is a generated view for several goroutines: nothing in it changes.
type forked struct{ *generated }

func (f forked) Fork(*change.Names) change.View { return f }

// aNumber is a rule whose violations would not be keys. It holds, by a sum.
const aNumber = `violation(900, inode, I) :-
  add(5, k(I, inode_item, 0)),
  count(add(5, k(I, inode_ref, _)), 0).
`

// TestWorkers checks that two workers reach the same verdict on a large transaction as one. If
// something does not hold, the rules have also spent the same.
func TestWorkers(t *testing.T) {
	for _, flat := range []bool{false, true} {
		g := generate(70_000, flat)
		files, open := append(thesisRules(t), invariants.File{Name: "number.pl", Text: []byte(aNumber)}),
			invariants.Options{OpenVocabulary: true}
		parallel := invariants.Parallel(open)
		alone, two := compiled(t, g, files, open), compiled(t, g, files, parallel)
		again, err := two.Again(parallel)
		if err != nil {
			t.Fatal(err)
		}
		parallel.Late = true
		late := compiled(t, g, files, parallel)
		want := alone.Check(context.Background(), g.txn, g)
		if len(want.Violations) == 0 {
			t.Fatal("no violation was found")
		}
		for i := range 3 {
			for _, two := range []*invariants.Compiled{two, again, late} {
				got := two.Check(context.Background(), g.txn, forked{g})
				if d := difference(want, got); d != "" {
					t.Fatalf("flat %v, check %d (-alone +two):\n%s", flat, i+1, d)
				}
			}
			if d := cmp.Diff(rows(alone), rows(two)); d != "" {
				t.Errorf("flat %v, check %d: rows of rules (-alone +two):\n%s", flat, i+1, d)
			}
		}
	}
}

// TestLateMistake checks that a mistake that shows in a plan makes the judgment undecided if the
// rules are compiled late.
func TestLateMistake(t *testing.T) {
	g := generate(100, false)
	files := []invariants.File{{Name: "late.pl",
		Text: []byte("violation(1, T, k(I, inode_item, 0)) :- add(T, k(I, inode_item, 0)), N > 1.\n")}}
	if _, err := invariants.NewCompiled(g.txn.Schema, files, invariants.Options{}); err == nil {
		t.Fatal("the rule loads")
	}
	late, err := invariants.NewCompiled(g.txn.Schema, files, invariants.Options{Late: true})
	if err != nil {
		t.Fatal(err)
	}
	for range 2 {
		verdict := late.Check(context.Background(), g.txn, g)
		if !verdict.Open || len(verdict.Undecided) == 0 ||
			!strings.Contains(verdict.Undecided[0], "late.pl") {
			t.Errorf("open %v, undecided %q", verdict.Open, verdict.Undecided)
		}
	}
}

// TestWorkersOnSoundTransactions checks that in a transaction that holds, one worker or the other
// judges each record, and a rule that proves nothing looks at as much as with one worker. A rule
// that needs nearly all of its budget is undecided with two workers, which may spend less, and one
// worker then judges it to its end.
func TestWorkersOnSoundTransactions(t *testing.T) {
	g := generate(70_000, false)
	const rule = `violation(1, T, k(I, inode_item, 0)) :-
  add(T, k(I, inode_item, 0)),
  not(add(T, k(I, inode_ref, a(_, _)))),
  not(add(T, k(I, inode_item, 1))),
  not(add(T, k(I, extent_data, _))).
`
	files, open := []invariants.File{{Name: "holds.pl", Text: []byte(rule)}},
		invariants.Options{OpenVocabulary: true}
	alone := compiled(t, g, files, open)
	check := func(e *invariants.Compiled) {
		t.Helper()
		if v := e.Check(context.Background(), g.txn, forked{g}); v.Outcome != change.Holds {
			t.Fatalf("outcome %v: %v %v", v.Outcome, v.Violations, v.Undecided)
		}
		if d := cmp.Diff(rows(alone), rows(e)); d != "" {
			t.Errorf("rows (-alone +two):\n%s", d)
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

func compiled(t *testing.T, g *generated, files []invariants.File,
	o invariants.Options) *invariants.Compiled {
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
