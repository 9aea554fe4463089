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

// alternatives returns the branches of a disjunction; if-then-else is one branch.
func alternatives(e *bindings, t template) []template {
	c, ok := e.walk(t).(compoundTemplate)
	if !ok || c.functor != syntax.AtomOr || len(c.args) != 2 {
		return []template{t}
	}
	if _, ok := conditional(e, c); ok {
		return []template{t}
	}
	return append([]template{c.args[0]}, alternatives(e, c.args[1])...)
}

func conjuncts(e *bindings, t template) []template {
	t = e.walk(t)
	if c, ok := t.(compoundTemplate); ok && c.functor == syntax.AtomComma && len(c.args) == 2 {
		return append(conjuncts(e, c.args[0]), conjuncts(e, c.args[1])...)
	}
	return []template{t}
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
