package compile

import (
	"github.com/ichiban/prolog/engine"
)

// A unifier makes templates equal.
type unifier struct{ registers *registerFile }

// unify makes two templates equal; ops compare the parts that are known only at run time. alive is
// false if the templates can never be equal. If bind is false, unify gives no values to variables
// and only compares.
func (u *unifier) unify(e *bindings, x, y template, bind bool) (ops []op, alive bool) {
	x, y = e.walk(x), e.walk(y)
	if _, ok := y.(variable); ok {
		x, y = y, x
	}
	switch x := x.(type) {
	case variable:
		return nil, u.bind(e, x, y, bind)
	case constant:
		switch y := y.(type) {
		case constant:
			return nil, x == y
		case register:
			return []op{sameOp(place{mode: placeConst, value: value(x)}, y.index)}, true
		}
	case register:
		switch y := y.(type) {
		case constant:
			return []op{sameOp(place{mode: placeConst, value: value(y)}, x.index)}, true
		case register:
			if x.index == y.index {
				return nil, true
			}
			return []op{sameOp(place{mode: placeBound, register: y.index}, x.index)}, true
		case compoundTemplate:
			return u.open(e, x, y, bind)
		}
	case compoundTemplate:
		switch y := y.(type) {
		case register:
			return u.open(e, y, x, bind)
		case compoundTemplate:
			return u.unifyArgs(e, x, y, bind)
		}
	}
	return nil, false
}

// bind gives a variable a value, which may be another variable; it reports false if they can never
// be equal.
func (u *unifier) bind(e *bindings, x variable, y template, bind bool) bool {
	if w, ok := y.(variable); ok {
		if x == w {
			return true
		}
		if e.info[w].single && !e.info[x].single {
			x, y = w, x
		}
	}
	if !bind || e.occurs(x, y) {
		return false
	}
	if c, ok := y.(compoundTemplate); ok {
		e.free(c, func(v variable) { e.info[v].single = false })
	}
	e.bound[x] = y
	if w, ok := y.(variable); ok && e.info[w].name == "" {
		e.info[w].name = e.info[x].name
	}
	if r, ok := y.(register); ok && u.registers.names[r.index] == "" {
		u.registers.label(e, r.index, x)
	}
	return true
}

// unifyArgs makes two compounds equal.
func (u *unifier) unifyArgs(e *bindings, x, y compoundTemplate, bind bool) (ops []op, alive bool) {
	if x.functor != y.functor || len(x.args) != len(y.args) {
		return nil, false
	}
	for i := range x.args {
		more, alive := u.unify(e, x.args[i], y.args[i], bind)
		if !alive {
			return nil, false
		}
		ops = append(ops, more...)
	}
	return ops, true
}

// open makes the compound in a register equal to a template.
func (u *unifier) open(e *bindings, r register, t compoundTemplate,
	bind bool) (ops []op, alive bool) {
	if r.typ != typeAny {
		return nil, false
	}
	ops, parts := u.take(r, t.functor, len(t.args))
	for i, a := range t.args {
		more, alive := u.unify(e, parts[i], a, bind)
		if !alive {
			return nil, false
		}
		ops = append(ops, more...)
	}
	return ops, true
}

// take puts the parts of the compound in a register into registers.
func (u *unifier) take(r register, functor engine.Atom, arity int) (ops []op, parts []template) {
	first := u.registers.count
	for range arity {
		parts = append(parts, register{u.registers.next(), typeAny})
	}
	return []op{openOp(r.index, functor, first, arity)}, parts
}

// sameOp continues if a register has a value.
func sameOp(want place, r int) op { return compareOp(want, r, true) }

// compareOp continues if a register has a value, or, if same is false, if it has another one.
func compareOp(want place, r int, same bool) op {
	return func(next step) step {
		switch c := want.value; {
		case want.mode != placeConst:
			other := want.register
			return func(m *machine) bool { return (m.r[r] == m.r[other]) == same && next(m) }
		case same && (c.tag == tagAtom || c.tag == tagNumber): // n and tag determine these values
			n, tag := c.n, c.tag
			return func(m *machine) bool {
				have := &m.r[r]
				return have.n == n && have.tag == tag && next(m)
			}
		case c.tag == tagAtom || c.tag == tagNumber:
			n, tag := c.n, c.tag
			return func(m *machine) bool {
				have := &m.r[r]
				return (have.n != n || have.tag != tag) && next(m)
			}
		default:
			return func(m *machine) bool { return (m.r[r] == c) == same && next(m) }
		}
	}
}

// pack returns an operand that makes the value of a template; ok is false if a variable in it has
// no value.
func pack(e *bindings, t template) (v operand, ok bool) {
	switch t := e.walk(t).(type) {
	case constant:
		c := value(t)
		return func(*machine) value { return c }, true
	case register:
		i := t.index
		return func(m *machine) value { return m.r[i] }, true
	case compoundTemplate:
		values := make([]operand, len(t.args))
		for i, a := range t.args {
			if values[i], ok = pack(e, a); !ok {
				return nil, false
			}
		}
		f := t.functor
		return func(m *machine) value {
			args := make([]value, 0, 8)
			for _, v := range values {
				args = append(args, v(m))
			}
			return m.compound(f, args)
		}, true
	default:
		return nil, false
	}
}
