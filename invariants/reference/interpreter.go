package reference

import (
	"context"

	"fsward/change"
	"fsward/invariants/ruleset"

	"github.com/ichiban/prolog/engine"
)

// interpreter runs the rules of one engine: it has the library's interpreter, and the parts to
// which builtins belong.
type interpreter struct {
	input       input
	budget      budget
	solver      solver
	arithmetic  arithmetic
	unification unification
	control     control
	state       state
	ranges      ranges
	records     records
	cover       *Coverage // nil: nothing is counted
}

// newInterpreter returns an interpreter without clauses, whose parts know each other.
func newInterpreter(v *ruleset.Vocabulary) *interpreter {
	r := &interpreter{input: input{vocabulary: v}}
	r.solver.budget = &r.budget
	r.arithmetic = arithmetic{budget: &r.budget}
	r.unification = unification{budget: &r.budget}
	r.control = control{budget: &r.budget, solver: &r.solver, arithmetic: &r.arithmetic}
	r.state = state{input: &r.input, budget: &r.budget, solver: &r.solver}
	r.ranges = ranges{input: &r.input, budget: &r.budget, solver: &r.solver, arithmetic: &r.arithmetic}
	r.records = records{input: &r.input, budget: &r.budget, solver: &r.solver}
	return r
}

// begin sets the transaction that rules judge.
func (r *interpreter) begin(ctx context.Context, t *change.Txn, v change.View, o ruleset.Options) {
	r.input.txn, r.input.view = t, v
	r.budget.ctx, r.budget.records = ctx, len(t.Records)
	r.budget.maxSteps = o.Steps + o.StepsPerRecord*int64(len(t.Records))
	r.budget.work = t.Work
	r.solver.maxDepth = o.MaxDepth
	r.control.held, r.control.kept = map[string]struct{}{}, map[string][]engine.Term{}
	r.state.reverse, r.state.reverseSize = map[ReverseKey]map[change.Value][]change.Object{}, 0
	r.records.index = recordIndex{records: t.Records}
	r.records.hashed.Reset()
}

// end releases the transaction.
func (r *interpreter) end() {
	r.input.txn, r.input.view = nil, nil
	r.budget.ctx, r.budget.work, r.budget.last = nil, nil, lookup{}
	r.control.held, r.control.kept = nil, nil
	r.state.reverse, r.records.index = nil, recordIndex{}
}

// startRule gives the next rule its whole budget.
func (r *interpreter) startRule() { r.budget.steps = 0 }

// startGoal begins a proof.
func (r *interpreter) startGoal() { r.solver.depth, r.budget.last = 0, lookup{} }

// input is the input of rules: a transaction and the state after it.
type input struct {
	vocabulary *ruleset.Vocabulary
	txn        *change.Txn
	view       change.View
}

// unifyValue unifies a term with a value of a record or an object; x is the value of the term, if
// bound is true.
func (in *input) unifyValue(env *engine.Env, t engine.Term, have, x change.Value,
	bound bool) (*engine.Env, bool) {
	if bound {
		return env, have == x
	}
	return env.Unify(t, in.vocabulary.ValueTerm(have, in.txn.Names))
}
