// Package invariants judges a transaction by rules written in Prolog (.pl files). It knows the change
// records and the view of the state after them, and no file system.
package invariants

import (
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
