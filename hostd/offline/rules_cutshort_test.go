package offline

import (
	"context"
	"testing"

	"fsward/change"
	"fsward/hostd/guard"
	"fsward/invariants/facts"
)

// TestCasesCutShort checks that a judgment that ends for want of steps, wherever it ends, finds no
// violation that the whole judgment does not find: shipped rules, on their cases.
func TestCasesCutShort(t *testing.T) {
	t.Parallel()
	rules, err := guard.RulesConfig{}.Load()
	if err != nil {
		t.Fatal(err)
	}
	cut := 0
	for _, fs := range caseSystems {
		eachCase(t, fs, func(p string, c *facts.Case) {
			found := map[[3]string]bool{}
			for _, x := range rules.Check(context.Background(), c.Txn, c.View).Violations {
				found[[3]string{x.Rule, x.Tree, x.ID}] = true
			}
			for steps := int64(4); steps < 20_000; steps += 4 + steps/8 {
				c.Txn.Work = change.NewWorkBudget(change.WorkLimits{Base: steps}).Begin()
				v := rules.Check(context.Background(), c.Txn, c.View)
				if len(v.Undecided) > 0 {
					cut++
				}
				for _, x := range v.Violations {
					if !found[[3]string{x.Rule, x.Tree, x.ID}] {
						t.Errorf("%s with %d steps: %s is violated by %s, %s", p, steps, x.Rule, x.Tree, x.ID)
					}
				}
			}
		})
	}
	t.Logf("%d judgments were cut short", cut)
	if cut < 1000 {
		t.Error("too few judgments were cut short")
	}
}
