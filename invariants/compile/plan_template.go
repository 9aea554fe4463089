package compile

import (
	"cmp"

	"github.com/ichiban/prolog/engine"

	"fsward/invariants/ruleset"
	"fsward/invariants/syntax"
)

// Rules are compiled by executing them on templates. A template is a term for which it is known, at
// each point of a plan, which parts are in the text, which are in a register, and which have no
// value yet. Most unification happens at compile time; at run time, only registers are compared.

// A template is a variable, a constant, a compound or a register.
type template interface{}

type (
	variable         int   // an index in bindings.bound
	constant         value //
	compoundTemplate struct {
		functor engine.Atom
		args    []template
	}
	register struct {
		index int
		typ   valueType
	}
)

// A valueType is the known type of the value in a register.
type valueType uint8

const (
	typeAny    valueType = iota
	typeNumber           // a number of any size
	typeWord             // a number of 64 bits, as identifiers have
	typeName             // an atom or a name
)

func (t valueType) isNumber() bool { return t == typeNumber || t == typeWord }

// bindings holds the values of variables at a point of a plan.
type bindings struct {
	bound  []template // nil means no value
	single []bool     // the variable occurs once in its clause, so nothing needs its value
	uses   []int      // number of occurrences
	names  []string   // in the text; "" if it has none
}

func (e *bindings) clone() *bindings {
	return &bindings{append([]template(nil), e.bound...), append([]bool(nil), e.single...),
		append([]int(nil), e.uses...), append([]string(nil), e.names...)}
}

func (e *bindings) fresh(uses int) variable {
	e.bound = append(e.bound, nil)
	e.single = append(e.single, uses == 1)
	e.uses = append(e.uses, uses)
	e.names = append(e.names, "")
	return variable(len(e.bound) - 1)
}

// name returns the name of a variable for a message.
func (e *bindings) name(v variable) string { return cmp.Or(e.names[v], "_") }

// walk returns the template to which t is bound.
func (e *bindings) walk(t template) template {
	for {
		v, ok := t.(variable)
		if !ok || e.bound[v] == nil {
			return t
		}
		t = e.bound[v]
	}
}

// resolve replaces all bound variables in a template.
func (e *bindings) resolve(t template) template {
	t = e.walk(t)
	c, ok := t.(compoundTemplate)
	if !ok {
		return t
	}
	args := make([]template, len(c.args))
	for i, a := range c.args {
		args[i] = e.resolve(a)
	}
	return compoundTemplate{c.functor, args}
}

// free calls f for each variable without a value in t.
func (e *bindings) free(t template, f func(variable)) {
	switch t := e.walk(t).(type) {
	case variable:
		f(t)
	case compoundTemplate:
		for _, a := range t.args {
			e.free(a, f)
		}
	}
}

// ground reports whether every variable in t has a value.
func (e *bindings) ground(t template) bool {
	ground := true
	e.free(t, func(variable) { ground = false })
	return ground
}

func (e *bindings) occurs(v variable, t template) bool {
	found := false
	e.free(t, func(w variable) { found = found || v == w })
	return found
}

// same reports whether two templates are equal without further bindings.
func (e *bindings) same(x, y template) bool {
	x, y = e.walk(x), e.walk(y)
	c, ok1 := x.(compoundTemplate)
	d, ok2 := y.(compoundTemplate)
	if !ok1 || !ok2 {
		return !ok1 && !ok2 && x == y
	}
	if c.functor != d.functor || len(c.args) != len(d.args) {
		return false
	}
	for i := range c.args {
		if !e.same(c.args[i], d.args[i]) {
			return false
		}
	}
	return true
}

// registers calls f for each register in t.
func (e *bindings) registers(t template, f func(register)) {
	switch t := e.walk(t).(type) {
	case register:
		f(t)
	case compoundTemplate:
		for _, a := range t.args {
			e.registers(a, f)
		}
	}
}

// goalOfTemplate returns the predicate and the arguments of a goal; ok is false for a variable or a
// number.
func goalOfTemplate(t template) (p syntax.Indicator, args []template, ok bool) {
	switch t := t.(type) {
	case constant:
		return syntax.Indicator{Name: engine.Atom(t.n), Arity: 0}, nil, t.tag == tagAtom
	case compoundTemplate:
		return syntax.Indicator{Name: t.functor, Arity: len(t.args)}, t.args, true
	default:
		return syntax.Indicator{}, nil, false
	}
}

// An instance turns the terms of one clause into templates with fresh variables.
type instance struct {
	terms     *interner
	env       *bindings
	clause    ruleset.ParsedClause
	counts    map[engine.Variable]int
	variables map[engine.Variable]variable
}

// newInstance counts the occurrences of the variables of a clause.
func newInstance(t *interner, e *bindings, c ruleset.ParsedClause) *instance {
	n := &instance{t, e, c, map[engine.Variable]int{}, map[engine.Variable]variable{}}
	n.count(c.Head)
	n.count(bodyOf(c))
	return n
}

func (n *instance) count(t engine.Term) {
	switch t := t.(type) {
	case engine.Variable:
		n.counts[t]++
	case engine.Compound:
		for i := range t.Arity() {
			n.count(t.Arg(i))
		}
	}
}

func (n *instance) template(t engine.Term) template {
	switch t := t.(type) {
	case engine.Variable:
		v, ok := n.variables[t]
		if !ok {
			v = n.env.fresh(n.counts[t])
			n.env.names[v] = n.clause.Variables[t]
			n.variables[t] = v
		}
		return v
	case engine.Atom:
		return constant(atomValue(t))
	case engine.Compound:
		args := make([]template, t.Arity())
		for i := range args {
			args[i] = n.template(t.Arg(i))
		}
		return compoundTemplate{t.Functor(), args}
	default:
		if x, ok := syntax.NumberOf(t); ok {
			return constant(n.terms.numberValue(x))
		}
		return constant(value{tag: tagNone})
	}
}
