package btrfs

import (
	"testing"

	"fsward/change"
	"fsward/interp"
	"fsward/interp/btrfs/ondisk"
)

// TestRecordsWithinBudget checks that records that must not be dropped end with an error before
// their slice takes more than the budget: append would add a quarter of it.
func TestRecordsWithinBudget(t *testing.T) {
	const budget = 30 << 20
	txn := &change.Txn{Schema: ondisk.Schema, Names: change.NewNames()}
	r := newRecorder(txn, itemContext{})
	r.memory = interp.NewMemoryBudget(budget, nil)
	var err error
	for err == nil {
		for range 10 {
			txn.Append(change.Record{})
		}
		err = r.makeRoom()
	}
	if n := cap(txn.Records) * interp.RecordBytes; n > budget {
		t.Errorf("the slice takes %d bytes of a budget of %d", n, budget)
	}
	if least := budget / interp.RecordBytes * 9 / 10; len(txn.Records) < least {
		t.Errorf("%d records fit, want at least %d", len(txn.Records), least)
	}
}
