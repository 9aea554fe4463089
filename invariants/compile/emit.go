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
		compare, ok := p.arithmetic.comparison(e, args[0], args[1], holds)
		if !ok {
			return unsupportedf("%s compares what is no number, or has no value yet", p.explain.text(e, t))
		}
		p.explain.step(e, t, "comparison", verdict.Constant)
		r.ops = []op{compare}
		return nil
	}
	if holds := syntax.TermOrders[name]; holds != nil && q.Arity == 2 {
		return p.values.emitOrder(t, name, args, holds, e, r)
	}
	if syntax.TermTests[name] != nil && q.Arity == 1 {
		p.values.emitTypeTest(name, args[0], e, r)
		return nil
	}
	switch q {
	case syntax.Pred("fail", 0):
		r.dead = true
		return nil
	case syntax.Pred("=", 2):
		text := p.explain.text(e, t) // before it gives variables values
		ops, alive := p.unifier.unify(e, args[0], args[1], true)
		if r.ops, r.dead = ops, !alive; len(ops) > 0 {
			p.explain.steps = append(p.explain.steps, verdict.Step{Goal: text, Access: "test", Class: verdict.Constant, Depth: p.explain.depth})
		}
		return nil
	case syntax.Pred(`\=`, 2):
		if p.values.emitDifference(t, args, e, r) {
			return nil
		}
		ops, alive := p.unifier.unify(e.clone(), args[0], args[1], true)
		p.values.emitDenial(t, ops, alive, e, r)
		return nil
	case syntax.Pred("is", 2):
		return p.values.emitIs(t, args, e, r)
	case syntax.Pred("crc32c", 2):
		return p.values.emitCRC(t, args, e, r)
	case syntax.Pred("zero_for_null", 2):
		return p.values.emitZero(args, e, r)
	case syntax.Pred("change", 5):
		return p.data.emitChange(g.goal, t, args, e, r)
	case syntax.Pred("query", 2), syntax.Pred("query", 4):
		return p.data.emitQuery(g.goal, t, args, e, len(rest) == 0, r)
	case syntax.Pred("previous", 3), syntax.Pred("next", 3), syntax.Pred("at_or_before", 3), syntax.Pred("at_or_after", 3):
		return p.data.emitNeighbor(t, args, e, reference.Walks[name], r)
	case syntax.Pred("range", 4), syntax.Pred("range_down", 4):
		return p.data.emitRange(t, args, e, name == "range_down", r)
	case syntax.Pred("between", 3):
		return p.values.emitBetween(t, args, e, r)
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
	outer, depth, dead := p.mode, p.explain.depth, p.explain.dead
	p.mode = mode{counting: counting, exists: !counting, trial: outer.trial}
	p.explain.depth++
	ops, err = p.plan([]goal{{t, g.at}}, e.clone(), needed, func(e *bindings) ([]op, error) {
		alive = true
		if last == nil {
			return nil, nil
		}
		return last(e)
	})
	p.mode, p.explain.depth, p.explain.dead = outer, depth, dead
	return ops, alive, err
}

func (p *planner) emitNot(g goal, t, inner template, e *bindings, r *result) error {
	p.explain.step(e, t, "negation", verdict.Constant)
	at := len(p.explain.steps) - 1
	p.data.absent = nil
	ops, alive, err := p.nested(g, inner, e, false, nil, nil)
	if err != nil {
		return err
	}
	p.explain.worst(at)
	switch {
	case !alive:
		r.ops = failing(ops)
	case len(ops) == 0:
		r.dead = true
	case len(ops) == 1 && len(p.explain.steps) == at+2 && p.data.absent != nil: // one query, and nothing else
		r.ops = []op{p.data.absent}
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

func (p *planner) emitVerify(g goal, t, inner template, e *bindings, r *result) error {
	p.explain.step(e, t, "negation, kept where the property holds", verdict.Constant)
	at := len(p.explain.steps) - 1
	ops, alive, err := p.nested(g, inner, e, false, nil, nil)
	if err != nil {
		return err
	}
	p.explain.worst(at)
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
