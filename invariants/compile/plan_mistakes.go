package compile

import (
	"slices"

	"github.com/ichiban/prolog/engine"

	"fsward/invariants/reference"
	"fsward/invariants/syntax"
)

// errs reports whether a goal can meet a mistake when it is called at this point of the analysis.
func (a *analysis) errs(t template) bool {
	p, args, ok := goalOfTemplate(a.env.walk(t))
	if !ok {
		return true
	}
	name := p.Name.String()
	if _, isComparison := syntax.NumberOrders[name]; isComparison && p.Arity == 2 {
		return !a.exact(args[0]) || !a.exact(args[1])
	}
	switch name {
	case ",", "->":
		b := a.clone()
		for _, x := range args {
			if b.errs(x) {
				return true
			}
			b.after(x)
		}
		return false
	case ";":
		return a.errs(args[0]) || a.errs(args[1])
	case "is":
		return !a.exact(args[1])
	case "between":
		return !a.exact(args[0]) || !a.exact(args[1])
	case "crc32c":
		return a.typeOf(args[0]) != typeName
	case "range", "range_down":
		id, ok := a.env.walk(args[1]).(compoundTemplate)
		return !ok || !a.bound(args[0]) || !a.bound(id.args[0]) || !a.exact(args[2]) || !a.exact(args[3])
	case "query", "previous", "next", "at_or_before", "at_or_after":
		return !a.bound(args[0]) || !a.bound(a.requiredPart(p, args[1]))
	case "sum":
		b := a.clone()
		if b.errs(args[1]) {
			return true
		}
		b.after(args[1])
		return !b.exact(args[0])
	case "count", "once", `\+`, "not", "verify", "call":
		if p.Arity > 1 && name != "count" && name != "not" {
			return true
		}
		if name == "not" && p.Arity == 2 {
			b := a.clone()
			if b.errs(args[0]) {
				return true
			}
			b.after(args[0])
			return b.errs(args[1])
		}
		return a.errs(args[0])
	case "findall", "forall", "arg", "functor", "=..":
		return true
	}
	return a.compiler.defines(p) && p.Name != atomZero
}

// requiredPart returns the part of an identifier that must be known: the object id in a query, all
// of it in a walk.
func (a *analysis) requiredPart(p syntax.Indicator, id template) template {
	id = a.env.walk(id)
	if c, ok := id.(compoundTemplate); ok && p.Name == atomQuery {
		return c.args[0]
	}
	return id
}

var atomQuery = engine.NewAtom("query")

// checkBound reports a variable without a value that a comparison, a query or a negation needs.
func (p *planner) checkBound(a *analysis, g goal, q syntax.Indicator, args []template, rest []goal,
	needed []template) {
	report := func(format string, args ...any) {
		if p.refused = p.refused || p.mode.trial; !p.mode.trial {
			p.compiler.mistake(g.at, format, args...)
		}
	}
	unbound := func(t template, f func(v variable)) {
		a.env.free(t, func(v variable) {
			if _, bound := a.types[v]; !bound && !a.maybe[v] {
				f(v)
			}
		})
	}
	name := q.Name.String()
	_, walks := reference.Walks[name]
	switch {
	case syntax.NumberOrders[name] != nil && q.Arity == 2:
		unbound(compoundTemplate{q.Name, args}, func(v variable) {
			report("%s has no value in the comparison %s; put the goal that gives it a value first",
				a.env.name(v), p.explain.text(a.env, g.t))
		})
	case q == predIs:
		unbound(args[1], func(v variable) {
			report("%s has no value in %s; put the goal that gives it a value first", a.env.name(v),
				p.explain.text(a.env, g.t))
		})
	case name == "query" || walks:
		required := []template{args[0], a.requiredPart(q, args[1])}
		unbound(compoundTemplate{q.Name, required}, func(v variable) {
			report("%s has no value in %s, which needs one object id of one tree; "+
				"put the goal that gives it a value first", a.env.name(v), p.explain.text(a.env, g.t))
		})
	case negations[q.Name]:
		unbound(compoundTemplate{q.Name, args}, func(v variable) {
			outside := slices.ContainsFunc(needed, func(t template) bool { return a.env.occurs(v, t) }) ||
				slices.ContainsFunc(rest, func(h goal) bool { return a.env.occurs(v, h.t) })
			if outside {
				report("%s has no value in the negation %s and is used after it; "+
					"put the goal that gives it a value first", a.env.name(v), p.explain.text(a.env, g.t))
			}
		})
	}
}

var negations = map[engine.Atom]bool{engine.NewAtom("not"): true, engine.NewAtom("verify"): true,
	syntax.AtomNot: true, engine.NewAtom("forall"): true}
