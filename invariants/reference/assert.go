package reference

import (
	"context"
	"fmt"

	"github.com/ichiban/prolog/engine"

	"fsward/invariants/ruleset"
	"fsward/invariants/syntax"
)

// load puts the clauses of a set of rules into the interpreter.
func (r *interpreter) load(set *ruleset.Set, builtins []builtin) error {
	r.solver.vm = newVM(builtins)
	for _, c := range set.Clauses {
		if err := r.add(set, c); err != nil {
			return c.Text.Errorf("%s", err)
		}
	}
	return nil
}

// add puts a clause into the interpreter. It inserts '$step' before the body, and turns the head of
// a rule into the goal of its own clause.
func (r *interpreter) add(set *ruleset.Set, c ruleset.ParsedClause) error {
	head, body := c.Head, c.Body
	if r.cover != nil {
		body = r.cover.covered(set, c)
	}
	if p, _ := syntax.IndicatorOf(head); p.Name == syntax.AtomViolation {
		v := head.(engine.Compound)
		head = set.GoalOf(v.Arg(0), fmt.Sprintf("%s:%d", c.Text.File, c.Text.Line)).Apply(v.Arg(1),
			v.Arg(2))
	}
	if body == nil {
		return r.assert(head)
	}
	// A body that is a disjunction becomes two clauses, because the interpreter runs those faster.
	for {
		or, ok := body.(engine.Compound)
		if !ok || or.Functor() != syntax.AtomOr || or.Arity() != 2 ||
			syntax.IsFunctor(or.Arg(0), syntax.AtomThen, 2) {
			break
		}
		if err := r.assert(syntax.AtomIf.Apply(head,
			syntax.AtomComma.Apply(syntax.AtomStep, or.Arg(0)))); err != nil {
			return err
		}
		body = or.Arg(1)
	}
	return r.assert(syntax.AtomIf.Apply(head, syntax.AtomComma.Apply(syntax.AtomStep, body)))
}

func (r *interpreter) assert(t engine.Term) error {
	_, err := engine.Assertz(r.solver.vm, t, engine.Success, nil).Force(context.Background())
	return err
}
