package verdict

import (
	"fsward/change"
)

// A Verdict is what the rules say of a transaction.
type Verdict struct {
	Outcome    change.Outcome
	Violations []change.Violation
	// Undecided names each rule that could not be judged and why: the rule, the line, the goal.
	Undecided []string

	report *Report // that Violations are of
	order  []int32
}

// AddWitnesses gives the first violations of each rule the change records that bear on them. The engine must not
// have judged another transaction since.
func (v *Verdict) AddWitnesses(t *change.Txn) {
	if len(v.Violations) > 0 {
		v.report.addWitnesses(t, v.order, v.Violations)
	}
}
