package guard_test

import (
	"context"
	"fmt"

	"fsward/change"
	"fsward/hostd/guard"
)

// A policy decides about a write by its verdict.
func ExampleRefusePolicy() {
	violated := &guard.Event{Kind: guard.KindCommit, FS: "btrfs", Generation: 7,
		Outcome: change.Violated}
	fmt.Println(guard.RefusePolicy{}.Decide(context.Background(), violated))
	fmt.Println(guard.LogPolicy{}.Decide(context.Background(), violated))
	// Output:
	// refused: the write would violate an invariant
	// <nil>
}
