package btrfs_test

import (
	"context"
	"testing"

	"fsward/change"
	"fsward/interp/btrfs"
	"fsward/invariants"
)

// newEngine compiles the built-in rules.
func newEngine(t testing.TB) invariants.Engine {
	t.Helper()
	files, err := invariants.Builtin("btrfs")
	if err != nil {
		t.Fatal(err)
	}
	e, err := invariants.NewCompiled(btrfs.Schema(), files, invariants.Options{})
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
