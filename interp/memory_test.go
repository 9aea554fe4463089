package interp_test

import (
	"testing"

	"fsward/interp"
)

// A budget borrows from the pool what exceeds its own bytes, and gives it back.
func TestMemoryBudget(t *testing.T) {
	const piece = 16 << 20
	pool := interp.NewMemoryPool(3*piece, nil)
	budget := interp.Limits{Memory: 2 << 20, Pool: pool}.NewMemoryBudget()
	if !budget.Holds(1 << 20) {
		t.Error("its own half is missing")
	}
	other := interp.NewMemoryBudget(1, pool)
	if !other.Holds(2 * piece) {
		t.Error("two pieces of three are missing")
	}
	if !budget.Holds(piece) {
		t.Error("the third piece is missing")
	}
	if budget.Holds(2 * piece) {
		t.Error("a fourth piece was given")
	}
	other.Release()
	if !budget.Holds(2*piece) || !budget.Holds(3*piece) || budget.Holds(4*piece) {
		t.Error("the budgets do not hold what was given back, or hold more")
	}
	budget.Release()
	budget.Release()
	if !other.Holds(3*piece) || other.Holds(3*piece+2) {
		t.Error("the pool does not have its first size")
	}
}

// A commit that needs memory which others hold makes them give way. One that can wait does not.
func TestMemoryBudgetUnderPressure(t *testing.T) {
	const piece = 16 << 20
	var check *interp.MemoryBudget
	asked := 0
	pool := interp.NewMemoryPool(2*piece, func() {
		asked++
		go check.Release()
	})
	check = interp.NewMemoryBudget(1, pool)
	if !check.Holds(2*piece) || check.Holds(3*piece) || asked != 0 {
		t.Fatalf("the check does not hold the whole pool, or asked %d times", asked)
	}
	commit := interp.Limits{Memory: 2, Pool: pool}.NewMemoryBudget()
	if !commit.Holds(2*piece) || asked != 1 {
		t.Errorf("the commit did not get the pool; others were asked %d times", asked)
	}
	if commit.Holds(4*piece) || asked != 1 {
		t.Errorf("more than there ever was: others were asked %d times", asked)
	}
}

// Without limits a budget holds everything.
func TestMemoryBudgetWithoutLimits(t *testing.T) {
	var none *interp.MemoryBudget
	for _, budget := range []*interp.MemoryBudget{none, interp.Limits{}.NewMemoryBudget()} {
		if !budget.Holds(1 << 60) {
			t.Error("there is a bound without limits")
		}
		budget.Release()
	}
}
