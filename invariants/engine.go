package invariants

import (
	"context"

	"fsward/change"
)

// An Engine holds a set of rules for one schema and checks transactions against them. It is used by
// one goroutine at a time.
type Engine interface {
	// Check judges a transaction by every rule. It does not return an error: what could not be judged
	// is in the verdict. Violations come sorted by rule, tree and id, and without witnesses: see
	// Verdict.AddWitnesses.
	Check(ctx context.Context, t *change.Txn, v change.View) Verdict
	// Rules describes the rules, in the order in which they are run.
	Rules() []Rule
}

// A StreamEngine is an Engine that judges what is not held.
type StreamEngine interface {
	Engine
	// CheckStream is Check for a change.Stream. The verdict is the same, but for rules that need more than memory bytes
	// of sums, or look for changes in a way that the state does not answer: they are undecided. Violations have
	// witnesses.
	CheckStream(ctx context.Context, s change.Stream, v change.View, memory uint64) Verdict
}

var _ StreamEngine = (*Compiled)(nil)
