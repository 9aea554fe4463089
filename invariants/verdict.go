// Package invariants judges a transaction by rules written in Prolog (.pl files). It knows the change
// records and the view of the state after them, and no file system.
package invariants

import (
	"context"

	"fsward/change"
)

// A Verdict is what the rules say of a transaction.
type Verdict struct {
	Outcome    change.Outcome
	Violations []change.Violation
	// Undecided names each rule that could not be judged and why: the rule, the line, the goal.
	Undecided []string

	report *report // that Violations are of
	order  []int32
}

// AddWitnesses gives the first violations of each rule the change records that bear on them. The engine must not
// have judged another transaction since.
func (v *Verdict) AddWitnesses(t *change.Txn) {
	if len(v.Violations) > 0 {
		v.report.addWitnesses(t, v.order, v.Violations)
	}
}

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

// A Rule describes a rule: all clauses of violation/3 with one number.
type Rule struct {
	Name   string // "btrfs/17"
	Doc    string // the property in one sentence: the first sentence of the comment block
	Source string // "invariants/btrfs/dir.pl:12", of the first clause
	Origin string // where the property comes from: "Source:" of the comment block
	User   string // what it means for the user: "For the user:" of the comment block
	// Severity is how bad it is, in a word: "Severity:" of the comment block, DefaultSeverity without it.
	Severity string
}
