package change_test

import (
	"errors"
	"testing"

	"fsward/change"
)

// TestWork checks that a judgment may take more steps the more there is to judge, and that steps
// that are rewound do not count.
func TestWork(t *testing.T) {
	budget := change.NewWorkBudget(change.WorkLimits{Base: 100, PerBlock: 10, PerRecord: 5})
	w := budget.Begin()
	if err := w.Spend(100); err != nil {
		t.Fatal(err)
	}
	w.Judge(2)
	if err := errors.Join(w.Blocks(1, 10), w.Spend(10)); err != nil {
		t.Fatal(err)
	}
	if w.Half(change.WorkMark{}) == nil {
		t.Error("all steps are taken for half of them")
	}
	mark := w.Mark()
	var exhausted *change.WorkError
	if err := w.Spend(1); !errors.As(err, &exhausted) ||
		*exhausted != (change.WorkError{Steps: 120, Records: 2, Blocks: 1}) {
		t.Errorf("one step too many: %v", err)
	}
	if w.Rewind(mark); w.Err() != nil {
		t.Errorf("after the rewind: %v", w.Err())
	}
	w.Judged(1)
	if d, ok := budget.Current().Done(); !ok || d.Judged != 1 || d.Records != 2 || d.Blocks != 1 {
		t.Errorf("%+v, %t", d, ok)
	}
	if w.End(); budget.Begin() == w {
		t.Error("two judgments share an account")
	}
	if _, ok := w.Done(); ok {
		t.Error("a judgment that has ended goes on")
	}
}

// TestNoWork checks that there are no bounds without a budget.
func TestNoWork(t *testing.T) {
	var budget *change.WorkBudget
	w := budget.Begin()
	meter := change.NewWorkMeter(w)
	w.Judge(1)
	w.Judged(1)
	w.End()
	if err := errors.Join(w.Spend(1<<62), w.Blocks(1, 1<<62), w.Err(), meter.Spend(1<<40),
		w.Half(w.Mark())); err != nil {
		t.Error(err)
	}
}
