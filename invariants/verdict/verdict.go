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
	// RulesHash identifies the rules; "" if nobody set it.
	RulesHash string
	// Open: one of these clauses, or the whole judgment, is not of a rule that is only logged.
	Open bool

	report *Report // the report of Violations
	order  []int32
}

// Conclude sets the outcome by the violations that act and the clauses that are undecided.
func (v *Verdict) Conclude() {
	v.Outcome = change.Holds
	if v.Open {
		v.Outcome = change.Undecided
	}
	for i := range v.Violations {
		if v.Violations[i].Acts() {
			v.Outcome = change.Violated
			return
		}
	}
}

// Add adds the verdict of other rules about the same transaction. Both have their witnesses.
func (v *Verdict) Add(o Verdict) {
	v.Violations = append(v.Violations, o.Violations...)
	v.Undecided = append(v.Undecided, o.Undecided...)
	v.Open = v.Open || o.Open
	v.report, v.order = nil, nil
	v.Conclude()
}

// AddWitnesses attaches the relevant change records to the first violations of each rule. Call it
// before the engine judges another transaction.
func (v *Verdict) AddWitnesses(t *change.Txn) {
	if len(v.Violations) > 0 && v.report != nil {
		v.report.addWitnesses(t, v.order, v.Violations)
	}
}
