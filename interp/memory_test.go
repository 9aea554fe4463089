package interp_test

import (
	"math"
	"testing"

	"fsward/interp"
)

// TestMemoryBudget checks that a budget borrows memory beyond its own bytes from the pool, and
// returns it.
func TestMemoryBudget(t *testing.T) {
	const piece = 16 << 20
	pool := interp.NewMemoryPool(3*piece, nil)
	budget := interp.Limits{Memory: 2 << 20, Pool: pool}.NewMemoryBudget()
	if !budget.Holds(1 << 20) {
		t.Error("the budget does not hold its own half")
	}
	if got := budget.Spare(1<<19 + 1); got != 1<<19-1 {
		t.Errorf("the budget has %d bytes to spare, want %d", got, 1<<19-1)
	}
	other := interp.NewMemoryBudget(1, pool)
	if !other.Holds(2 * piece) {
		t.Error("the other budget does not hold two of three pieces")
	}
	if !budget.Holds(piece) {
		t.Error("the budget does not hold the third piece")
	}
	if got := budget.Spare(2 * piece); got != 0 {
		t.Errorf("the budget has %d bytes to spare beyond what it holds", got)
	}
	if budget.Holds(2 * piece) {
		t.Error("the budget holds a fourth piece, which the pool does not have")
	}
	other.Release()
	if !budget.Holds(2*piece) || !budget.Holds(3*piece) || budget.Holds(4*piece) {
		t.Error("the budget does not hold exactly the three pieces after the other's release")
	}
	budget.Release()
	budget.Release()
	if !other.Holds(3*piece) || other.Holds(3*piece+2) {
		t.Error("after the release the pool does not have its first size")
	}
}

// TestMemoryBudgetUnderPressure checks that the budget of a commit makes other budgets release
// their memory of the pool, and that no other budget does.
func TestMemoryBudgetUnderPressure(t *testing.T) {
	const piece = 16 << 20
	var check *interp.MemoryBudget
	calls := 0
	pool := interp.NewMemoryPool(2*piece, func() {
		calls++
		go check.Release()
	})
	check = interp.NewMemoryBudget(1, pool)
	if !check.Holds(2*piece) || check.Holds(3*piece) || calls != 0 {
		t.Fatalf("the check does not hold the whole pool, or pressure was called %d times", calls)
	}
	commit := interp.Limits{Memory: 2, Pool: pool}.NewMemoryBudget()
	if !commit.Holds(2*piece) || calls != 1 {
		t.Errorf("the commit did not get the pool; pressure was called %d times, want 1", calls)
	}
	if commit.Holds(4*piece) || calls != 1 {
		t.Errorf("the commit got more than the pool; pressure was called %d times, want 1", calls)
	}
}

// TestMemoryBudgetWithoutLimits checks that a budget without limits has no bound.
func TestMemoryBudgetWithoutLimits(t *testing.T) {
	var none *interp.MemoryBudget
	for _, budget := range []*interp.MemoryBudget{none, interp.Limits{}.NewMemoryBudget()} {
		if !budget.Holds(1 << 60) {
			t.Error("a budget without limits has a bound")
		}
		if got := budget.Spare(1 << 60); got != math.MaxUint64 {
			t.Errorf("a budget without limits has %d bytes to spare", got)
		}
		budget.Release()
	}
}
