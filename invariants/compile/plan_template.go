package compile

import (
	"cmp"

	"github.com/ichiban/prolog/engine"

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
	bound []template // nil means no value
	info  []variableInfo
}

// A variableInfo is what the text says of a variable.
type variableInfo struct {
	name   string // "" if it has none
	uses   int    // number of occurrences
	single bool   // it occurs once in its clause, so nothing needs its value
}

// roomToGrow is the number of variables for which a copy has memory: more goals follow.
const roomToGrow = 16

func (e *bindings) clone() *bindings {
	n := len(e.bound) + roomToGrow
	c := &bindings{make([]template, 0, n), make([]variableInfo, 0, n)}
	c.copy(e)
	return c
}

// copy makes e a copy of another one in its own memory.
func (e *bindings) copy(of *bindings) {
	e.bound, e.info = append(e.bound[:0], of.bound...), append(e.info[:0], of.info...)
}

func (e *bindings) fresh(uses int) variable {
	return e.add(variableInfo{uses: uses, single: uses == 1})
}

func (e *bindings) add(v variableInfo) variable {
	e.bound, e.info = append(e.bound, nil), append(e.info, v)
	return variable(len(e.bound) - 1)
}

// name returns the name of a variable for a message.
func (e *bindings) name(v variable) string { return cmp.Or(e.info[v].name, "_") }

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
