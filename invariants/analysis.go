package invariants

import (
	"slices"

	"github.com/ichiban/prolog/engine"

	"fsward/change"
)

// analysis follows the goals of a conjunction in the order in which they are written: which variables have
// a value where, and of what type. It decides which goals may change places.
type analysis struct {
	planner *planner
	env     *env
	types   map[variable]valueType // variables that have a value
	maybe   map[variable]bool      // variables that may have one
}

func newAnalysis(p *planner, e *env) *analysis {
	return &analysis{p, e, map[variable]valueType{}, map[variable]bool{}}
}

func (a *analysis) clone() *analysis {
	b := newAnalysis(a.planner, a.env)
	for v, t := range a.types {
		b.types[v] = t
	}
	for v := range a.maybe {
		b.maybe[v] = true
	}
	return b
}

// bind notes that the variables in t have values after a goal.
func (a *analysis) bind(t template, typ valueType) {
	t = a.env.walk(t)
	if v, ok := t.(variable); ok {
		if have, bound := a.types[v]; !bound || have == typeAny {
			a.types[v] = typ
		}
		a.maybe[v] = true
		return
	}
	a.env.free(t, func(v variable) {
		if _, bound := a.types[v]; !bound {
			a.types[v] = typeAny
		}
		a.maybe[v] = true
	})
}

func (a *analysis) bound(t template) bool {
	all := true
	a.env.free(t, func(v variable) {
		if _, ok := a.types[v]; !ok {
			all = false
		}
	})
	return all
}

// object notes the variables of an identifier.
func (a *analysis) object(tree, id template) {
	schema := a.planner.compiler.loader.vocabulary
	kind := change.Kind(0)
	if schema.schema.KindIsTree {
		if c, ok := a.env.walk(tree).(constant); ok && c.tag == cellAtom {
			kind = schema.kinds[engine.Atom(c.n)]
		}
		a.bind(tree, typeAny)
	} else {
		a.bind(tree, typeWord)
	}
	switch id := a.env.walk(id).(type) {
	case compoundTemplate:
		if id.functor == atomK && len(id.args) == 3 {
			a.bind(id.args[0], typeWord)
			a.bind(id.args[1], typeAny)
			if c, ok := a.env.walk(id.args[1]).(constant); ok && c.tag == cellAtom {
				kind = schema.kinds[engine.Atom(c.n)]
			}
			sub := a.env.walk(id.args[2])
			if pair, ok := sub.(compoundTemplate); ok {
				for _, x := range pair.args {
					a.bind(x, typeWord)
				}
			} else if kind != 0 && schema.shape(kind) == change.ShapeKey {
				a.bind(sub, typeWord)
			} else {
				a.bind(sub, typeAny)
			}
			return
		}
		for i, x := range id.args {
			typ := typeWord
			if i == 1 && (kind == 0 || schema.shape(kind) != change.ShapeNums) {
				typ = typeAny
			}
			a.bind(x, typ)
		}
	default:
		if kind != 0 && schema.shape(kind) == change.ShapeNum {
			a.bind(id, typeWord)
		} else {
			a.bind(id, typeAny)
		}
	}
}

// after notes what a goal gives values to.
func (a *analysis) after(t template) {
	p, args, ok := goalOfTemplate(a.env.walk(t))
	if !ok {
		return
	}
	switch p.name.String() {
	case ",":
		a.after(args[0])
		a.after(args[1])
		return
	case ";":
		left, right := a.clone(), a.clone()
		left.after(args[0])
		right.after(args[1])
		a.join(left, right)
		return
	case "->", "once", "call":
		if p.arity <= 2 && p.name.String() != "call" || p.arity == 1 {
			for _, x := range args {
				a.after(x)
			}
			return
		}
	case "count":
		a.bind(args[1], typeWord)
		return
	case "sum":
		a.bind(args[2], typeNumber)
		return
	case "findall":
		a.bind(args[2], typeAny)
		return
	case "is":
		a.bind(args[0], typeNumber)
		return
	case "between":
		a.bind(args[2], typeNumber)
		return
	case "crc32c":
		a.bind(args[0], typeAny)
		a.bind(args[1], typeWord)
		return
	case "=":
		a.equal(args[0], args[1])
		return
	case "change", "query":
		a.object(args[0], args[1])
		typ := typeAny
		if len(args) > 2 && a.isName(args[2]) {
			typ = typeName
		}
		for _, x := range args[2:] {
			a.bind(x, typ)
		}
		return
	case "previous", "next", "at_or_before", "at_or_after":
		a.object(args[0], args[1])
		a.object(args[0], args[2])
		return
	case "range", "range_down":
		a.object(args[0], args[1])
		return
	}
	if a.planner.compiler.defines(p) && !negations[p.name] || p.name == atomZero {
		for _, x := range args {
			a.bind(x, typeAny)
		}
	}
}

// isName tells whether a field holds names: that of this name does, in each file system.
func (a *analysis) isName(field template) bool {
	c, ok := a.env.walk(field).(constant)
	return ok && cell(c).is(atomName)
}

var atomName = engine.NewAtom("name")

// equal notes a unification.
func (a *analysis) equal(x, y template) {
	x, y = a.env.walk(x), a.env.walk(y)
	c, ok1 := x.(compoundTemplate)
	d, ok2 := y.(compoundTemplate)
	if ok1 && ok2 && c.functor == d.functor && len(c.args) == len(d.args) {
		for i := range c.args {
			a.equal(c.args[i], d.args[i])
		}
		return
	}
	switch {
	case a.bound(x):
		a.bind(y, a.typeOf(x))
	case a.bound(y):
		a.bind(x, a.typeOf(y))
	default:
		for _, t := range []template{x, y} {
			a.env.free(t, func(v variable) { a.maybe[v] = true })
		}
	}
}

// asksFor tells whether one of some variables stands in t and has no value there.
func (a *analysis) asksFor(t template, list []variable) bool {
	return slices.ContainsFunc(list, func(v variable) bool {
		_, bound := a.types[v]
		return !bound && a.env.occurs(v, t)
	})
}

func (a *analysis) typeOf(t template) valueType {
	switch t := a.env.walk(t).(type) {
	case register:
		return t.typ
	case variable:
		return a.types[t]
	case constant:
		if t.tag == cellNumber {
			return typeWord
		}
	}
	return typeAny
}

// join keeps what holds in both branches.
func (a *analysis) join(left, right *analysis) {
	for v, t := range left.types {
		if u, both := right.types[v]; both {
			if t != u {
				t = typeAny
			}
			a.types[v] = t
		}
	}
	for _, b := range []*analysis{left, right} {
		for v := range b.maybe {
			a.maybe[v] = true
		}
	}
}

var negations = map[engine.Atom]bool{engine.NewAtom("not"): true, engine.NewAtom("verify"): true, atomNot: true, engine.NewAtom("forall"): true}

// errs tells whether a goal can meet a mistake when it is called where the analysis stands.
func (a *analysis) errs(t template) bool {
	p, args, ok := goalOfTemplate(a.env.walk(t))
	if !ok {
		return true
	}
	name := p.name.String()
	if _, isComparison := numberOrders[name]; isComparison && p.arity == 2 {
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
		return !a.bound(args[0]) || !a.bound(a.asked(p, args[1]))
	case "sum":
		b := a.clone()
		if b.errs(args[1]) {
			return true
		}
		b.after(args[1])
		return !b.exact(args[0])
	case "count", "once", `\+`, "not", "verify", "call":
		if p.arity > 1 && name != "count" && name != "not" {
			return true
		}
		if name == "not" && p.arity == 2 {
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
	return a.planner.compiler.defines(p) && p.name != atomZero
}

// asked returns the part of an identifier that has to be known in a query, which is its object id, or in a walk: all of it.
func (a *analysis) asked(p indicator, id template) template {
	id = a.env.walk(id)
	if c, ok := id.(compoundTemplate); ok && p.name == atomQuery {
		return c.args[0]
	}
	return id
}

var atomQuery = engine.NewAtom("query")

// plain tells whether what a goal means depends on the values of its variables alone, and not on which of
// them have one when it is called.
func plain(e *env, t template) bool {
	p, args, ok := goalOfTemplate(e.walk(t))
	if !ok {
		return false
	}
	if _, isComparison := numberOrders[p.name.String()]; isComparison && p.arity == 2 {
		return true
	}
	switch p.name.String() {
	case ",", ";":
		return plain(e, args[0]) && plain(e, args[1])
	case "change", "query", "previous", "next", "at_or_before", "at_or_after", "crc32c", "is", "=", "between", "true", "fail", "false":
		return true
	case "range", "range_down":
		return !isKeyTemplate(e, args[2]) && !isKeyTemplate(e, args[3])
	}
	return false
}

// pending is a goal that has no place in the plan yet.
type pending struct {
	goal
	barrier bool // nothing changes places with it
	plain   bool
	exact   bool                   // it cannot err where it is written
	compare bool                   // it can err elsewhere
	before  map[variable]valueType // of its variables, those that have a value where it is written
	free    map[variable]bool      // those that have none and matter elsewhere
}

// analyse prepares the goals of a conjunction.
func (p *planner) analyse(goals []goal, e *env, needed []template) []*pending {
	a := newAnalysis(p, e)
	var list []*pending
	for i, g := range goals {
		x := &pending{goal: g, before: map[variable]valueType{}, free: map[variable]bool{}, plain: plain(e, g.t)}
		uncertain := false
		e.free(g.t, func(v variable) {
			if t, bound := a.types[v]; bound {
				x.before[v] = t
				return
			}
			if a.maybe[v] {
				uncertain = true
			}
			if !e.single[v] {
				x.free[v] = true
			}
		})
		q, args, ok := goalOfTemplate(e.walk(g.t))
		x.exact = !a.errs(g.t)
		branches := ok && q == pi(";", 2) && !isConditional(e, g.t) // which are analysed one by one
		if p.trial && !x.plain && !branches && a.asksFor(g.t, p.unknown) {
			p.refused = true // it would mean another thing for all keys at once
		}
		x.compare = !x.plain || ok && (numberOrders[q.name.String()] != nil || computing[q])
		x.barrier = !x.exact || !x.plain && uncertain
		if ok {
			p.checkBound(a, g, q, args, goals[i+1:], needed)
		}
		list = append(list, x)
		a.after(g.t)
	}
	return list
}

// computing are the goals that err with what is no number, besides comparisons.
var computing = map[indicator]bool{pi("is", 2): true, pi(";", 2): true, pi("between", 3): true, pi("range", 4): true, pi("range_down", 4): true}

// checkBound reports a variable that has no value where a comparison or a negation needs it.
func (p *planner) checkBound(a *analysis, g goal, q indicator, args []template, rest []goal, needed []template) {
	report := func(format string, args ...any) {
		if p.refused = p.refused || p.trial; !p.trial {
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
	switch name := q.name.String(); {
	case numberOrders[name] != nil && q.arity == 2:
		unbound(compoundTemplate{q.name, args}, func(v variable) {
			report("%s has no value in the comparison %s; put the goal that gives it one before", p.variableName(v), p.text(a.env, g.t))
		})
	case q == pi("is", 2):
		unbound(args[1], func(v variable) {
			report("%s has no value in %s; put the goal that gives it one before", p.variableName(v), p.text(a.env, g.t))
		})
	case name == "query" || walks[name].step != nil:
		unbound(compoundTemplate{q.name, []template{args[0], a.asked(q, args[1])}}, func(v variable) {
			report("%s has no value in %s, which asks for one object id of one tree; put the goal that gives it one before", p.variableName(v), p.text(a.env, g.t))
		})
	case negations[q.name]:
		unbound(compoundTemplate{q.name, args}, func(v variable) {
			outside := slices.ContainsFunc(needed, func(t template) bool { return a.env.occurs(v, t) }) ||
				slices.ContainsFunc(rest, func(h goal) bool { return a.env.occurs(v, h.t) })
			if outside {
				report("%s has no value in the negation %s and is used behind it; put the goal that gives it one before", p.variableName(v), p.text(a.env, g.t))
			}
		})
	}
}
