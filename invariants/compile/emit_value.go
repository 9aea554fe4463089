package compile

import (
	"fsward/invariants/syntax"
	"fsward/invariants/verdict"
)

// A valueEmitter makes the ops of goals that compute and test values and look nothing up.
type valueEmitter struct {
	interner   *interner
	registers  *registerFile
	explain    *explainer
	unifier    *unifier
	arithmetic *arithmetic
}

// emit makes the ops of a goal; done is false if the goal does not compute or test values.
func (em *valueEmitter) emit(t template, q syntax.Indicator, args []template, e *bindings,
	r *result) (done bool, err error) {
	name := q.Name.String()
	if holds := syntax.NumberOrders[name]; holds != nil && q.Arity == 2 {
		compare, ok := em.arithmetic.comparison(e, args[0], args[1], holds)
		if !ok {
			return true, unsupportedf("%s compares something that is not a number or has no value yet",
				em.explain.text(e, t))
		}
		em.explain.step(e, t, "comparison", verdict.Constant)
		r.ops = []op{compare}
		return true, nil
	}
	if holds := syntax.TermOrders[name]; holds != nil && q.Arity == 2 {
		return true, em.emitOrder(t, name, args, holds, e, r)
	}
	if syntax.TermTests[name] != nil && q.Arity == 1 {
		em.emitTypeTest(name, args[0], e, r)
		return true, nil
	}
	switch q {
	case predEqual:
		text := em.explain.text(e, t) // before unify binds variables
		ops, alive := em.unifier.unify(e, args[0], args[1], true)
		if r.ops, r.dead = ops, !alive; len(ops) > 0 {
			em.explain.note(text, "test")
		}
	case predDiffer:
		if em.emitDifference(t, args, e, r) {
			break
		}
		ops, alive := em.unifier.unify(e.clone(), args[0], args[1], true)
		em.emitDenial(t, ops, alive, e, r)
	case predIs:
		err = em.emitIs(t, args, e, r)
	case predCrc32c:
		err = em.emitCRC(t, args, e, r)
	case predZeroForNull:
		err = em.emitZero(args, e, r)
	case predBetween:
		err = em.emitBetween(t, args, e, r)
	default:
		return false, nil
	}
	return true, err
}

func (em *valueEmitter) emitIs(t template, args []template, e *bindings, r *result) error {
	x, ok := em.arithmetic.expression(e, args[1])
	if !ok {
		return unsupportedf("%s computes with something that is not a number or has no value yet",
			em.explain.text(e, t))
	}
	em.explain.step(e, t, "arithmetic", verdict.Constant)
	n := em.registers.next()
	r.ops = []op{computeOp(x, n)}
	return em.give(e, args[0], register{n, typeNumber}, r)
}

func (em *valueEmitter) emitCRC(t template, args []template, e *bindings, r *result) error {
	text, ok := pack(e, args[0])
	if !ok {
		hash, known := pack(e, args[1])
		v, isVariable := e.walk(args[0]).(variable)
		if !known || !isVariable {
			return unsupportedf("%s needs a name or a hash that is known", em.explain.text(e, t))
		}
		info := em.explain.step(e, t, "names in the changes, by a hash index", verdict.Constant)
		r.ops = []op{unhashOp(hash, em.registers.load(e, v, typeName), info)}
		return nil
	}
	em.explain.step(e, t, "computed", verdict.Constant)
	n := em.registers.next()
	r.ops = []op{crcOp(text, place{mode: placeLoad, register: n})}
	return em.give(e, args[1], register{n, typeWord}, r)
}

func (em *valueEmitter) emitZero(args []template, e *bindings, r *result) error {
	from, ok := pack(e, args[0])
	if !ok {
		return unsupportedf("zero_for_null/2 of a variable without a value")
	}
	n := em.registers.next()
	r.ops = []op{assignOp([]int{n}, []operand{func(m *machine) value {
		if c := from(m); !c.is(syntax.AtomNull) {
			return c
		}
		return numberValue(0)
	}})}
	return em.give(e, args[1], register{n, typeAny}, r)
}

func (em *valueEmitter) emitBetween(t template, args []template, e *bindings, r *result) error {
	low, ok1 := em.arithmetic.expression(e, args[0])
	high, ok2 := em.arithmetic.expression(e, args[1])
	if !ok1 || !ok2 {
		return unsupportedf("%s needs two numbers", em.explain.text(e, t))
	}
	n := em.registers.next()
	r.ops = []op{betweenOp(low, high, place{mode: placeLoad, register: n},
		em.explain.step(e, t, "each number", verdict.Directory))}
	return em.give(e, args[2], register{n, typeNumber}, r)
}

func (em *valueEmitter) emitDenial(t template, ops []op, alive bool, e *bindings, r *result) {
	em.explain.step(e, t, "test", verdict.Constant)
	switch {
	case !alive:
	case len(ops) == 0:
		r.dead = true
	default:
		r.ops = []op{notOp(ops)}
	}
}

// emitDifference emits an inequality of registers and constants; it reports false for any other.
func (em *valueEmitter) emitDifference(t template, args []template, e *bindings, r *result) bool {
	x, y := e.walk(args[0]), e.walk(args[1])
	if _, ok := x.(register); !ok {
		x, y = y, x
	}
	have, ok := x.(register)
	if !ok {
		return false
	}
	var want place
	switch y := y.(type) {
	case constant:
		want = place{mode: placeConst, value: value(y)}
	case register:
		want = place{mode: placeBound, register: y.index}
	default:
		return false
	}
	em.explain.step(e, t, "test", verdict.Constant)
	r.ops = []op{compareOp(want, have.index, false)}
	return true
}

// emitOrder emits a comparison in the standard order of terms.
func (em *valueEmitter) emitOrder(t template, name string, args []template, holds func(int) bool,
	e *bindings, r *result) error {
	switch name {
	case "==":
		em.explain.step(e, t, "test", verdict.Constant)
		ops, alive := em.unifier.unify(e, args[0], args[1], false)
		r.ops, r.dead = ops, !alive
		return nil
	case `\==`:
		if em.emitDifference(t, args, e, r) {
			return nil
		}
		ops, alive := em.unifier.unify(e, args[0], args[1], false)
		em.emitDenial(t, ops, alive, e, r)
		return nil
	}
	x, ok1 := pack(e, args[0])
	y, ok2 := pack(e, args[1])
	if !ok1 || !ok2 {
		return unsupportedf("%s compares a variable without a value", em.explain.text(e, t))
	}
	em.explain.step(e, t, "test", verdict.Constant)
	r.ops = []op{testOp(func(m *machine) bool {
		return holds(m.term(x(m)).Compare(m.term(y(m)),
			nil))
	})}
	return nil
}

func (em *valueEmitter) emitTypeTest(name string, arg template, e *bindings, r *result) {
	var is func(c value) bool
	switch t := e.walk(arg).(type) {
	case variable:
		r.dead = name != "var"
		return
	case compoundTemplate:
		r.dead = name != "compound" && name != "nonvar"
		return
	case constant, register:
		switch name {
		case "var":
			r.dead = true
			return
		case "nonvar":
			return
		case "integer", "number":
			is = value.isNumber
		case "atom":
			is = func(c value) bool { return c.tag == tagAtom || c.tag == tagName }
		case "atomic":
			is = value.isAtomic
		case "compound":
			is = value.isCompound
		}
		if c, ok := t.(constant); ok {
			r.dead = !is(value(c))
			return
		}
		i := t.(register).index
		r.ops = []op{testOp(func(m *machine) bool { return is(m.r[i]) })}
	}
}

// give unifies the result in a register with the wanted template.
func (em *valueEmitter) give(e *bindings, want template, have register, r *result) error {
	if v, ok := e.walk(want).(variable); ok {
		e.bound[v] = have
		em.registers.label(e, have.index, v)
		return nil
	}
	ops, alive := em.unifier.unify(e, want, have, true)
	r.ops = append(r.ops, ops...)
	r.dead = !alive
	return nil
}
