package invariants_test

import (
	"context"
	"fmt"
	"iter"
	"math/rand/v2"
	"testing"

	"fsward/change"
	"fsward/invariants"
	"fsward/invariants/facts"
)

// brieflyFailing cannot read the disk once: at its call number at.
type brieflyFailing struct {
	change.View
	calls, at int
}

func (v *brieflyFailing) fails() bool {
	v.calls++
	return v.calls == v.at
}

func (v *brieflyFailing) Get(o change.Object, f change.Field) (change.Value, bool, error) {
	if v.fails() {
		return change.Value{}, false, errDisk
	}
	return v.View.Get(o, f)
}

func (v *brieflyFailing) Values(o change.Object, fields []change.Field,
	values []change.Value) error {
	if v.fails() {
		return errDisk
	}
	return v.View.Values(o, fields, values)
}

func (v *brieflyFailing) Exists(o change.Object) (bool, error) {
	if v.fails() {
		return false, errDisk
	}
	return v.View.Exists(o)
}

func (v *brieflyFailing) Scan(lo, hi change.Object) iter.Seq2[change.Object, error] {
	return v.failing(v.View.Scan(lo, hi))
}

func (v *brieflyFailing) ScanDown(lo, hi change.Object) iter.Seq2[change.Object, error] {
	return v.failing(v.View.ScanDown(lo, hi))
}

// failing may fail before each object.
func (v *brieflyFailing) failing(all iter.Seq2[change.Object, error]) iter.Seq2[change.Object,
	error] {
	return func(yield func(change.Object, error) bool) {
		for o, err := range all {
			if v.fails() {
				yield(change.Object{}, errDisk)
				return
			}
			if !yield(o, err) {
				return
			}
		}
	}
}

func (v *brieflyFailing) Previous(o change.Object) (change.Object, bool, error) {
	if v.fails() {
		return change.Object{}, false, errDisk
	}
	return v.View.Previous(o)
}

func (v *brieflyFailing) Next(o change.Object) (change.Object, bool, error) {
	if v.fails() {
		return change.Object{}, false, errDisk
	}
	return v.View.Next(o)
}

// inventions returns the violations of a verdict that the whole judgment does not have.
func inventions(whole, cut invariants.Verdict) (invented []string) {
	found := map[string]bool{}
	name := func(x change.Violation) string { return fmt.Sprint(x.Rule, " ", x.Tree, " ", x.ID) }
	for _, x := range whole.Violations {
		found[name(x)] = true
	}
	for _, x := range cut.Violations {
		if !found[name(x)] {
			invented = append(invented, name(x))
		}
	}
	return invented
}

// cutShort checks that a judgment that ends for want of steps, or because the disk cannot be read
// for a moment, finds nothing that the whole judgment does not find. It returns the number of
// judgments that were cut short.
func cutShort(t testing.TB, e invariants.Engine, f *facts.Facts, whole invariants.Verdict,
	budgets, calls []int) (cuts int) {
	t.Helper()
	judge := func(text string, v change.View) {
		t.Helper()
		cut := e.Check(context.Background(), f.Txn, v)
		switch {
		case len(cut.Undecided) > len(whole.Undecided):
			cuts++
		case len(cut.Undecided) == 0 && len(cut.Violations) < len(whole.Violations):
			t.Errorf("%s: violations are missing, and no rule is undecided", text)
		}
		if invented := inventions(whole, cut); invented != nil {
			t.Errorf("%s: invented %q; undecided %q", text, invented, cut.Undecided)
		}
	}
	for _, n := range budgets {
		f.Txn.Work = change.NewWorkBudget(change.WorkLimits{Base: int64(n)}).Begin()
		judge(fmt.Sprintf("with %d steps", n), f.View)
	}
	f.Txn.Work = nil
	for _, n := range calls {
		judge(fmt.Sprintf("with an error of call %d", n), &brieflyFailing{View: f.View, at: n})
	}
	return cuts
}

// upTo returns the numbers from 1 to n, some of them left out from 100 on.
func upTo(n int) (all []int) {
	for i := 1; i <= n; i += 1 + i/100 {
		all = append(all, i)
	}
	return all
}

// TestSumsCutShort checks that a sum that is added up in part is not used by the next clause.
func TestSumsCutShort(t *testing.T) {
	f := parseFacts(t, links(30))
	// The first rule may have steps for one sum and a part of the other; the second has the first sum.
	const rules = `
violation(both, T, r(I, S, N)) :-
  change(T, k(I,inode_item,0), nlink, _, _), count(delete(T, k(I,inode_ref,_)), S),
  sum(B, change(T, k(I,extent_data,_), num_bytes, _, B), N).
violation(again, T, r(I, S, N)) :-
  change(T, k(I,inode_item,0), nlink, _, _), count(delete(T, k(I,inode_ref,_)), S),
  sum(B, change(T, k(I,extent_data,_), num_bytes, _, B), N).
`
	files := []invariants.File{{Name: "test.pl", Text: []byte(rules)}}
	o := invariants.Options{OpenVocabulary: true}
	for name, o := range map[string]invariants.Options{"as needed": o,
		"eager": invariants.EagerSums(o)} {
		e, err := invariants.NewCompiled(f.Txn.Schema, files, o)
		if err != nil {
			t.Fatal(err)
		}
		whole := e.Check(context.Background(), f.Txn, f.View)
		cuts := cutShort(t, e, f, whole, upTo(60_000), upTo(2000))
		t.Logf("%s: %d judgments were cut short", name, cuts)
		if cuts < 100 {
			t.Errorf("%s: only %d judgments were cut short", name, cuts)
		}
	}
}

// TestGroupsCutShort checks the same for the objects that a query finds by a value: an index of
// them that could not be read whole is not used.
func TestGroupsCutShort(t *testing.T) {
	var text string
	for i := range 40 {
		o := fmt.Sprintf("5,k(256,dir_item,%d)", i)
		text += fmt.Sprintf("change(%s,object,null,present).\nobject(%s).\n"+
			"change(%s,size,null,%d).\nstate(%s,size,%d).\n", o, o, o, i%4, o, i%4)
	}
	f := parseFacts(t, text)
	const rules = `
violation(first, T, r(S, N)) :- change(T, k(D,dir_item,_), size, _, S),
  count(query(T, k(D,dir_item,_), size, S), N).
violation(second, T, r(S, N)) :- change(T, k(D,dir_item,_), size, _, S),
  count(query(T, k(D,dir_item,_), size, S), N).
`
	files := []invariants.File{{Name: "test.pl", Text: []byte(rules)}}
	for name, make := range engines {
		e, err := make(f.Txn.Schema, files, invariants.Options{OpenVocabulary: true})
		if err != nil {
			t.Fatal(err)
		}
		whole := e.Check(context.Background(), f.Txn, f.View)
		cuts := cutShort(t, e, f, whole, upTo(20_000), upTo(200))
		t.Logf("%s: %d judgments were cut short", name, cuts)
		if cuts < 100 {
			t.Errorf("%s: only %d judgments were cut short", name, cuts)
		}
	}
}

// A streamEngine judges each transaction as a stream of small parts.
type streamEngine struct{ *invariants.Compiled }

func (e streamEngine) Check(ctx context.Context, t *change.Txn, v change.View) invariants.Verdict {
	return e.CheckStream(ctx, &factStream{t, 7}, v, 1<<20)
}

// engines are both engines, the compiled one also with streams.
var engines = map[string]func(*change.Schema, []invariants.File,
	invariants.Options) (invariants.Engine, error){
	"stream": func(s *change.Schema, files []invariants.File,
		o invariants.Options) (invariants.Engine, error) {
		e, err := invariants.NewCompiled(s, files, o)
		return streamEngine{e}, err
	},
	"reference": invariants.NewReference,
	"compiled": func(s *change.Schema, files []invariants.File,
		o invariants.Options) (invariants.Engine, error) {
		return invariants.NewCompiled(s, files, o)
	},
}

// TestDifferentialCutShort checks the same with random rules over random transactions.
func TestDifferentialCutShort(t *testing.T) {
	cuts := 0
	for seed := uint64(0); seed < 500 && !t.Failed(); seed++ {
		c := choices{rand.New(rand.NewPCG(seed, 2))}
		rule := c.rule(1) + c.rule(2)
		f := parseFacts(t, c.world())
		o := invariants.Options{OpenVocabulary: true, MaxViolations: 100000}
		if seed%2 == 1 {
			o = invariants.EagerSums(o)
		}
		for name, make := range engines {
			e, err := make(f.Txn.Schema, []invariants.File{{Name: "a.pl", Text: []byte(rule)}}, o)
			if err != nil {
				continue
			}
			whole := e.Check(context.Background(), f.Txn, f.View)
			budgets, calls := someUpTo(c, 600), someUpTo(c, 40)
			cuts += cutShort(t, e, f, whole, budgets, calls)
			if t.Failed() {
				t.Fatalf("seed %d, %s:\n%s", seed, name, rule)
			}
		}
	}
	t.Logf("%d judgments were cut short", cuts)
	if cuts < 100 {
		t.Error("too few judgments were cut short")
	}
}

// someUpTo returns some numbers, small ones more often.
func someUpTo(c choices, n int) (some []int) {
	for range 6 {
		some = append(some, 1+c.IntN(1+c.IntN(n)))
	}
	return some
}
