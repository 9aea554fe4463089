package compile

import (
	"fsward/invariants/reference"
	"fsward/invariants/syntax"
	"fsward/invariants/verdict"
	"slices"
)

// emit makes the ops of a goal that comes next.
func (p *planner) emit(g *goalInfo, e *bindings, rest []goal, needed []template, done doneFunc, r *result) error {
	t := e.walk(g.t)
	q, args, _ := goalOfTemplate(t)
	name := q.Name.String()
	if holds := syntax.NumberOrders[name]; holds != nil && q.Arity == 2 {
		compare, ok := p.comparison(e, args[0], args[1], holds)
		if !ok {
			return unsupportedf("%s compares what is no number, or has no value yet", p.text(e, t))
		}
		p.step(e, t, "comparison", verdict.Constant)
		r.ops = []op{compare}
		return nil
	}
	if holds := syntax.TermOrders[name]; holds != nil && q.Arity == 2 {
		return p.emitOrder(t, name, args, holds, e, r)
	}
	if syntax.TermTests[name] != nil && q.Arity == 1 {
		p.emitTypeTest(name, args[0], e, r)
		return nil
	}
	switch q {
	case syntax.Pred("fail", 0):
		r.dead = true
		return nil
	case syntax.Pred("=", 2):
		text := p.text(e, t) // before it gives variables values
		ops, alive := p.unify(e, args[0], args[1], true)
		if r.ops, r.dead = ops, !alive; len(ops) > 0 {
			p.steps = append(p.steps, verdict.Step{Goal: text, Access: "test", Class: verdict.Constant, Depth: p.depth})
		}
		return nil
	case syntax.Pred(`\=`, 2):
		if p.emitDifference(t, args, e, r) {
			return nil
		}
		ops, alive := p.unify(e.clone(), args[0], args[1], true)
		p.emitDenial(t, ops, alive, e, r)
		return nil
	case syntax.Pred("is", 2):
		return p.emitIs(t, args, e, r)
	case syntax.Pred("crc32c", 2):
		return p.emitCRC(t, args, e, r)
	case syntax.Pred("zero_for_null", 2):
		return p.emitZero(args, e, r)
	case syntax.Pred("change", 5):
		return p.emitChange(g.goal, t, args, e, r)
	case syntax.Pred("query", 2), syntax.Pred("query", 4):
		return p.emitQuery(g.goal, t, args, e, len(rest) == 0, r)
	case syntax.Pred("previous", 3), syntax.Pred("next", 3), syntax.Pred("at_or_before", 3), syntax.Pred("at_or_after", 3):
		return p.emitNeighbor(t, args, e, reference.Walks[name], r)
	case syntax.Pred("range", 4), syntax.Pred("range_down", 4):
		return p.emitRange(t, args, e, name == "range_down", r)
	case syntax.Pred("between", 3):
		return p.emitBetween(t, args, e, r)
	case syntax.Pred(`\+`, 1):
		return p.emitNot(g.goal, t, args[0], e, r)
	case syntax.Pred("verify", 1):
		return p.emitVerify(g.goal, t, args[0], e, r)
	case syntax.Pred("once", 1):
		yes := template(constant(atomValue(atomTrue)))
		return p.emitThen(g.goal, args[0], yes, nil, e, rest, needed, done, r)
	case syntax.Pred("->", 2):
		return p.emitThen(g.goal, args[0], args[1], nil, e, rest, needed, done, r)
	case syntax.Pred(";", 2):
		if then, ok := e.walk(args[0]).(compoundTemplate); ok && then.functor == syntax.AtomThen && len(then.args) == 2 {
			return p.emitThen(g.goal, then.args[0], then.args[1], args[1], e, rest, needed, done, r)
		}
		return p.emitOr(g, alternatives(e, t), e, rest, needed, done, r)
	case syntax.Pred("count", 2):
		return p.emitSum(g.goal, t, constant(numberValue(1)), args[0], args[1], typeWord, e, r)
	case syntax.Pred("sum", 3):
		return p.emitSum(g.goal, t, args[0], args[1], args[2], typeNumber, e, r)
	}
	if p.compiler.recursive[q] {
		return p.emitCall(t, q, args, e, r)
	}
	return unsupportedf("%s is not compiled", q)
}

// nested plans a conjunction inside a goal: what it binds is not seen outside.
// needed are the templates whose values last asks for.
func (p *planner) nested(g goal, t template, e *bindings, counting bool, needed []template, last doneFunc) (ops []op, alive bool, err error) {
	outer := *p
	p.top, p.counting, p.exists = false, counting, !counting
	p.depth++
	ops, err = p.plan([]goal{{t, g.at}}, e.clone(), needed, func(e *bindings) ([]op, error) {
		alive = true
		if last == nil {
			return nil, nil
		}
		return last(e)
	})
	p.top, p.counting, p.exists, p.depth, p.dead = outer.top, outer.counting, outer.exists, outer.depth, outer.dead
	return ops, alive, err
}

func (p *planner) emitNot(g goal, t, inner template, e *bindings, r *result) error {
	p.step(e, t, "negation", verdict.Constant)
	at := len(p.steps) - 1
	p.absent = nil
	ops, alive, err := p.nested(g, inner, e, false, nil, nil)
	if err != nil {
		return err
	}
	p.worst(at)
	switch {
	case !alive:
		r.ops = failing(ops)
	case len(ops) == 0:
		r.dead = true
	case len(ops) == 1 && len(p.steps) == at+2 && p.absent != nil: // one query, and nothing else
		r.ops = []op{p.absent}
	default:
		r.ops = []op{notOp(ops)}
	}
	return nil
}

// failing makes the ops of the negation of a search that finds nothing. It is run for the mistakes that it may meet
// on the way to the goal that is never true.
func failing(search []op) []op {
	if len(search) < 2 {
		return nil
	}
	return []op{notOp(search)}
}

// worst gives a step the class of the worst of those inside it.
func (p *planner) worst(at int) {
	for _, s := range p.steps[at+1:] {
		if classRank[s.Class] > classRank[p.steps[at].Class] {
			p.steps[at].Class = s.Class
		}
	}
}

var classRank = map[verdict.Class]int{verdict.Constant: 0, verdict.LogN: 1, verdict.Directory: 2, verdict.Tree: 3}

func (p *planner) emitVerify(g goal, t, inner template, e *bindings, r *result) error {
	p.step(e, t, "negation, kept where the property holds", verdict.Constant)
	at := len(p.steps) - 1
	ops, alive, err := p.nested(g, inner, e, false, nil, nil)
	if err != nil {
		return err
	}
	p.worst(at)
	if !alive {
		r.ops = failing(ops)
		return nil
	}
	if len(ops) == 0 {
		r.dead = true
		return nil
	}
	var registers []register
	e.registers(inner, func(x register) {
		if !slices.Contains(registers, x) {
			registers = append(registers, x)
		}
	})
	if !e.ground(inner) || len(registers) > maxVerified {
		r.ops = []op{notOp(ops)}
		return nil
	}
	r.ops = []op{verifyOp(ops, p.compiler.property(e.resolve(inner)), registers)}
	return nil
}

// give unifies a result in a register with what is wanted.
func (p *planner) give(e *bindings, want template, have register, r *result) error {
	if v, ok := e.walk(want).(variable); ok {
		e.bound[v] = have
		p.nameRegister(e, have.index, v)
		return nil
	}
	ops, alive := p.unify(e, want, have, true)
	r.ops = append(r.ops, ops...)
	r.dead = !alive
	return nil
}

func (p *planner) nameRegister(e *bindings, r int, v variable) {
	if p.byReg == nil {
		p.byReg = map[int]string{}
	}
	p.byReg[r] = e.name(v)
}

func (p *planner) emitIs(t template, args []template, e *bindings, r *result) error {
	x, ok := p.expression(e, args[1])
	if !ok {
		return unsupportedf("%s computes with what is no number, or has no value yet", p.text(e, t))
	}
	p.step(e, t, "arithmetic", verdict.Constant)
	n := p.register()
	r.ops = []op{computeOp(x, n)}
	return p.give(e, args[0], register{n, typeNumber}, r)
}

func (p *planner) emitCRC(t template, args []template, e *bindings, r *result) error {
	text, ok := p.pack(e, args[0])
	if !ok {
		hash, known := p.pack(e, args[1])
		v, isVariable := e.walk(args[0]).(variable)
		if !known || !isVariable {
			return unsupportedf("%s needs a name or a hash that is known", p.text(e, t))
		}
		info := p.step(e, t, "names in the changes, by a hash index", verdict.Constant)
		r.ops = []op{unhashOp(hash, p.load(e, v, typeName), info)}
		return nil
	}
	p.step(e, t, "computed", verdict.Constant)
	n := p.register()
	r.ops = []op{crcOp(text, place{mode: placeLoad, register: n})}
	return p.give(e, args[1], register{n, typeWord}, r)
}

func (p *planner) emitZero(args []template, e *bindings, r *result) error {
	from, ok := p.pack(e, args[0])
	if !ok {
		return unsupportedf("zero_for_null/2 of a variable without a value")
	}
	n := p.register()
	r.ops = []op{assignOp([]int{n}, []operand{func(m *machine) value {
		if c := from(m); !c.is(syntax.AtomNull) {
			return c
		}
		return numberValue(0)
	}})}
	return p.give(e, args[1], register{n, typeAny}, r)
}

func (p *planner) emitBetween(t template, args []template, e *bindings, r *result) error {
	low, ok1 := p.expression(e, args[0])
	high, ok2 := p.expression(e, args[1])
	if !ok1 || !ok2 {
		return unsupportedf("%s needs two numbers", p.text(e, t))
	}
	n := p.register()
	r.ops = []op{betweenOp(low, high, place{mode: placeLoad, register: n}, p.step(e, t, "each number", verdict.Directory))}
	return p.give(e, args[2], register{n, typeNumber}, r)
}

func (p *planner) emitDenial(t template, ops []op, alive bool, e *bindings, r *result) {
	p.step(e, t, "test", verdict.Constant)
	switch {
	case !alive:
	case len(ops) == 0:
		r.dead = true
	default:
		r.ops = []op{notOp(ops)}
	}
}

// emitDifference places a denial of equality of registers and constants; it reports false for any other.
func (p *planner) emitDifference(t template, args []template, e *bindings, r *result) bool {
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
	p.step(e, t, "test", verdict.Constant)
	r.ops = []op{compareOp(want, have.index, false)}
	return true
}

// emitOrder places a comparison in the standard order of terms.
func (p *planner) emitOrder(t template, name string, args []template, holds func(int) bool, e *bindings, r *result) error {
	switch name {
	case "==":
		p.step(e, t, "test", verdict.Constant)
		ops, alive := p.unify(e, args[0], args[1], false)
		r.ops, r.dead = ops, !alive
		return nil
	case `\==`:
		if p.emitDifference(t, args, e, r) {
			return nil
		}
		ops, alive := p.unify(e, args[0], args[1], false)
		p.emitDenial(t, ops, alive, e, r)
		return nil
	}
	x, ok1 := p.pack(e, args[0])
	y, ok2 := p.pack(e, args[1])
	if !ok1 || !ok2 {
		return unsupportedf("%s compares a variable without a value", p.text(e, t))
	}
	p.step(e, t, "test", verdict.Constant)
	r.ops = []op{testOp(func(m *machine) bool { return holds(m.term(x(m)).Compare(m.term(y(m)), nil)) })}
	return nil
}

func (p *planner) emitTypeTest(name string, arg template, e *bindings, r *result) {
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
