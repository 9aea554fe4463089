package compile

import (
	"fmt"

	"fsward/change"
	"fsward/invariants/syntax"
)

// contradictions finds goals that cannot be true together.
type contradictions struct {
	patterns   *patternMaker
	arithmetic *arithmetic
	explain    *explainer
}

// unsatisfiable says why goals can never be true together: a number is above a bound that another
// goal sets, a comparison has a side that is not a number, or a change has the same old and new
// value. It returns "" if they may be true. A single goal that never matches is found when it is
// emitted.
func (cs *contradictions) unsatisfiable(goals []goal, e *bindings) string {
	limits := map[variable]*limit{}
	for _, g := range goals {
		q, args, ok := goalOfTemplate(e.walk(g.t))
		if !ok {
			continue
		}
		switch name := q.Name.String(); {
		case q == predChange:
			if cs.changesNothing(e, args[2], args[3], args[4]) {
				return fmt.Sprintf("%s: a change of a field has two values that differ",
					cs.explain.text(e, g.t))
			}
		case syntax.NumberOrders[name] != nil && q.Arity == 2:
			for _, a := range args {
				if c, ok := e.walk(a).(constant); ok && value(c).tag == tagAtom {
					return fmt.Sprintf("%s is never true: %s is not a number", cs.explain.text(e, g.t),
						cs.explain.text(e, a))
				}
			}
			if other := cs.bound(limits, name, g.t, args, e); other != nil {
				return fmt.Sprintf("%s and %s are never true together", cs.explain.text(e, other),
					cs.explain.text(e, g.t))
			}
		}
	}
	return ""
}

// changesNothing reports whether a change of a field would have one value as old and new. Only the
// field "object" has such changes: the object existed before and still exists.
func (cs *contradictions) changesNothing(e *bindings, field, before, after template) bool {
	if !e.ground(field) || !e.same(before, after) {
		return false
	}
	f, known := cs.patterns.fieldOf(e, field)
	return known && f != change.FieldObject
}

// A limit is the range of a variable, with the goals that set its bounds.
type limit struct {
	low, high     *syntax.Number
	lowBy, highBy template
}

// bound narrows the range of the variable in a comparison with a number. It returns the goal that
// contradicts the comparison, or nil.
func (cs *contradictions) bound(limits map[variable]*limit, name string, t template,
	args []template, e *bindings) template {
	x, y := e.walk(args[0]), e.walk(args[1])
	if _, ok := x.(constant); ok {
		x, y, name = y, x, mirrored[name]
	}
	v, isVariable := x.(variable)
	n, isNumber := cs.arithmetic.literal(y)
	if !isVariable || !isNumber {
		return nil
	}
	l := limits[v]
	if l == nil {
		l = &limit{}
		limits[v] = l
	}
	one := syntax.Number{Small: 1}
	switch name {
	case ">":
		l.atLeast(n.Add(one), t)
	case ">=":
		l.atLeast(n, t)
	case "<":
		l.atMost(n.Sub(one), t)
	case "=<":
		l.atMost(n, t)
	case "=:=":
		l.atLeast(n, t)
		l.atMost(n, t)
	}
	switch {
	case l.low == nil || l.high == nil || l.low.Cmp(*l.high) <= 0:
		return nil
	case e.same(l.lowBy, t):
		return l.highBy
	default:
		return l.lowBy
	}
}

// mirrored maps each comparison to the one with its sides exchanged.
var mirrored = map[string]string{"<": ">", ">": "<", "=<": ">=", ">=": "=<", "=:=": "=:=",
	`=\=`: `=\=`}

func (l *limit) atLeast(n syntax.Number, by template) {
	if l.low == nil || n.Cmp(*l.low) > 0 {
		l.low, l.lowBy = &n, by
	}
}

func (l *limit) atMost(n syntax.Number, by template) {
	if l.high == nil || n.Cmp(*l.high) < 0 {
		l.high, l.highBy = &n, by
	}
}

// literal returns the value of a template that is a number in the text.
func (ar *arithmetic) literal(t template) (syntax.Number, bool) {
	c, ok := t.(constant)
	if !ok || !value(c).isNumber() {
		return syntax.Number{}, false
	}
	return syntax.NumberOf(ar.interner.term(value(c)))
}
