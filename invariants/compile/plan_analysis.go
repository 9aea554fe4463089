package compile

import (
	"slices"

	"github.com/ichiban/prolog/engine"

	"fsward/change"
	"fsward/invariants/syntax"
)

// An analysis follows the goals of a conjunction in the order of the text. It knows which variables
// have a value where, and of what type. It decides which goals may change places.
type analysis struct {
	compiler *compiler
	env      *bindings
	types    map[variable]valueType // variables that have a value
	maybe    map[variable]bool      // variables that may have one
}

func newAnalysis(c *compiler, e *bindings) *analysis {
	return &analysis{c, e, map[variable]valueType{}, map[variable]bool{}}
}

func (a *analysis) clone() *analysis {
	b := newAnalysis(a.compiler, a.env)
	for v, t := range a.types {
		b.types[v] = t
	}
	for v := range a.maybe {
		b.maybe[v] = true
	}
	return b
}

// bind records that the variables in t have values after a goal.
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

// object records the variables of an identifier.
func (a *analysis) object(tree, id template) {
	schema := a.compiler.set.Vocabulary
	kind := change.Kind(0)
	if schema.Schema.KindIsTree {
		if c, ok := a.env.walk(tree).(constant); ok && c.tag == tagAtom {
			kind = schema.Kinds[engine.Atom(c.n)]
		}
		a.bind(tree, typeAny)
	} else {
		a.bind(tree, typeWord)
	}
	switch id := a.env.walk(id).(type) {
	case compoundTemplate:
		if id.functor == syntax.AtomK && len(id.args) == 3 {
			a.bind(id.args[0], typeWord)
			a.bind(id.args[1], typeAny)
			if c, ok := a.env.walk(id.args[1]).(constant); ok && c.tag == tagAtom {
				kind = schema.Kinds[engine.Atom(c.n)]
			}
			sub := a.env.walk(id.args[2])
			if pair, ok := sub.(compoundTemplate); ok {
				for _, x := range pair.args {
					a.bind(x, typeWord)
				}
			} else if kind != 0 && schema.Shape(kind) == change.ShapeKey {
				a.bind(sub, typeWord)
			} else {
				a.bind(sub, typeAny)
			}
			return
		}
		for i, x := range id.args {
			typ := typeWord
			if i == 1 && (kind == 0 || schema.Shape(kind) != change.ShapeNums) {
				typ = typeAny
			}
			a.bind(x, typ)
		}
	default:
		if kind != 0 && schema.Shape(kind) == change.ShapeNum {
			a.bind(id, typeWord)
		} else {
			a.bind(id, typeAny)
		}
	}
}

// after records the variables to which a goal gives values.
func (a *analysis) after(t template) {
	p, args, ok := goalOfTemplate(a.env.walk(t))
	if !ok {
		return
	}
	switch p.Name.String() {
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
		if p.Arity <= 2 && p.Name.String() != "call" || p.Arity == 1 {
			for _, x := range args {
				a.after(x)
			}
			return
		}
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
	if r, ok := results[p]; ok {
		a.bind(args[r.arg], r.typ)
		return
	}
	if a.compiler.defines(p) && !negations[p.Name] || p.Name == atomZero {
		for _, x := range args {
			a.bind(x, typeAny)
		}
	}
}

// results lists the goals that give a value to one argument only, with the argument and its type.
var results = map[syntax.Indicator]struct {
	arg int
	typ valueType
}{
	predCount:   {1, typeWord},
	predSum:     {2, typeNumber},
	predFindall: {2, typeAny},
	predIs:      {0, typeNumber},
	predBetween: {2, typeNumber},
}

// isName reports whether a field holds names: the field called "name" does, in each file system.
func (a *analysis) isName(field template) bool {
	c, ok := a.env.walk(field).(constant)
	return ok && value(c).is(atomName)
}

var atomName = engine.NewAtom("name")

// equal records a unification.
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

// asksFor reports whether one of some variables occurs in t and has no value there.
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
		if t.tag == tagNumber {
			return typeWord
		}
	}
	return typeAny
}

// join keeps the facts that are true after both branches.
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
