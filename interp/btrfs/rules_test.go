package btrfs_test

import (
	"context"
	"sync"
	"testing"

	"fsward/change"
	"fsward/interp/btrfs"
	"fsward/invariants"
)

// compiled compiles the built-in rules, once for all tests: that takes longer than most checks.
var compiled = sync.OnceValues(func() (invariants.Engine, error) {
	files, err := invariants.Builtin("btrfs")
	if err != nil {
		return nil, err
	}
	return invariants.NewCompiled(btrfs.Schema(), files, invariants.Options{})
})

// builtin returns an engine with the built-in rules. One goroutine at a time may use it.
func builtin(t testing.TB) invariants.Engine {
	t.Helper()
	e, err := compiled()
	if err != nil {
		t.Fatal(err)
	}
	return e
}

// check judges a transaction. It fails the test if the verdict is undecided.
func check(t testing.TB, e invariants.Engine, txn *change.Txn, v change.View) []change.Violation {
	t.Helper()
	verdict := e.Check(context.Background(), txn, v)
	verdict.AddWitnesses(txn)
	for _, u := range verdict.Undecided {
		t.Errorf("generation %d: undecided: %s", txn.Generation, u)
	}
	return verdict.Violations
}
