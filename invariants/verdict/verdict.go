package verdict

import (
	"fsward/change"
)

// A Verdict is the result of judging a transaction by the rules.
type Verdict struct {
	Outcome    change.Outcome
	Violations []change.Violation
	// Undecided has a line for each clause that could not be judged: the rule, the source line, the
	// reason.
	Undecided []string

	report *Report // the report of Violations
	order  []int32
}

// AddWitnesses attaches the relevant change records to the first violations of each rule. Call it
// before the engine judges another transaction.
func (v *Verdict) AddWitnesses(t *change.Txn) {
	if len(v.Violations) > 0 {
		v.report.addWitnesses(t, v.order, v.Violations)
	}
}
