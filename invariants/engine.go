package invariants

import (
	"context"

	"fsward/change"
)

// An Engine holds a set of rules for one schema and checks transactions against them. One goroutine
// at a time may use it.
type Engine interface {
	// Check judges a transaction by every rule. It does not return an error: the verdict lists what
	// could not be judged. Violations are sorted by rule, tree and id, and have no witnesses: see
	// Verdict.AddWitnesses.
	Check(ctx context.Context, t *change.Txn, v change.View) Verdict
	// Rules describes the rules, in the order in which they run.
	Rules() []Rule
}

// A StreamEngine is an Engine that can also judge a file system that does not fit into memory as
// one transaction.
type StreamEngine interface {
	Engine
	// CheckStream is Check for a change.Stream. The verdict is the same, except that rules are
	// undecided if they need more than memory bytes of sums, or changes that the state cannot
	// provide. Violations have witnesses.
	CheckStream(ctx context.Context, s change.Stream, v change.View, memory uint64) Verdict
}

var _ StreamEngine = (*Compiled)(nil)
