package compile

import (
	"fsward/invariants/syntax"
	"slices"

	"github.com/ichiban/prolog/engine"
)

// conditional returns the condition of if-then-else; ok is false for any other goal.
func conditional(e *bindings, t template) (condition template, ok bool) {
	c, ok := e.walk(t).(compoundTemplate)
	if !ok || c.functor != syntax.AtomOr || len(c.args) != 2 {
		return nil, false
	}
	then, ok := e.walk(c.args[0]).(compoundTemplate)
	if !ok || then.functor != syntax.AtomThen || len(then.args) != 2 {
		return nil, false
	}
	return then.args[0], true
}

func isConditional(e *bindings, t template) bool { _, ok := conditional(e, t); return ok }

// alternatives returns the branches of a disjunction; if-then-else is one branch. member/2 of a
// list in the text has a branch for each element.
func alternatives(e *bindings, t template) (branches []template) {
	for {
		c, ok := e.walk(t).(compoundTemplate)
		if !ok || c.functor != syntax.AtomOr || len(c.args) != 2 || isConditional(e, c) {
			return append(branches, t)
		}
		branches, t = append(branches, c.args[0]), c.args[1]
	}
}

// conjuncts returns the goals of a conjunction.
func conjuncts(e *bindings, t template) []template { return appendConjuncts(nil, e, t) }

func appendConjuncts(goals []template, e *bindings, t template) []template {
	t = e.walk(t)
	if c, ok := t.(compoundTemplate); ok && c.functor == syntax.AtomComma && len(c.args) == 2 {
		return appendConjuncts(appendConjuncts(goals, e, c.args[0]), e, c.args[1])
	}
	return append(goals, t)
}

// hasChange reports whether each branch of a disjunction contains a change.
func hasChange(e *bindings, t template) bool {
	if _, ok := conditional(e, t); ok {
		return false
	}
	for _, b := range alternatives(e, t) {
		if !slices.ContainsFunc(conjuncts(e, b), func(t template) bool {
			q, _, _ := goalOfTemplate(t)
			return q.Arity > 0 && (q.Name == atomChange || wrappers[q] ||
				q.Name == syntax.AtomOr && hasChange(e, t))
		}) {
			return false
		}
	}
	return true
}

var atomChange = engine.NewAtom("change")

// wrappers are the predicates of the prelude that go through changes.
var wrappers = map[syntax.Indicator]bool{predAdd: true,
	predUpdate: true, predDelete: true, predNew2: true,
	predNew4: true,
	predOld2: true, predOld4: true, predDefaultZero: true}
