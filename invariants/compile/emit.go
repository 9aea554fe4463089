package compile

import (
	"fsward/invariants/syntax"
	"fsward/invariants/verdict"
	"slices"
)

// emit makes the ops of the next goal.
func (p *planner) emit(g *goalInfo, e *bindings, next continuation, r *result) error {
	t := e.walk(g.t)
	q, args, _ := goalOfTemplate(t)
	if done, err := p.values.emit(t, q, args, e, r); done || err != nil {
		return err
	}
	if done, err := p.lookups.emit(g.goal, t, q, args, e, len(next.rest) == 0, r); done || err != nil {
		return err
	}
	switch q {
	case predFail:
		r.dead = true
		return nil
	case predWhole:
		p.explain.step(e, t, "test of the transaction", verdict.Constant)
		r.ops = []op{wholeOp}
		return nil
	case predNot:
		return p.emitNot(g.goal, t, args[0], e, r)
	case predVerify:
		return p.emitVerify(g.goal, t, args[0], e, r)
	case predOnce:
		if done, err := p.emitOnce(args[0], e, r); done || err != nil {
			return err
		}
		yes := template(constant(atomValue(atomTrue)))
		return p.emitThen(g.goal, args[0], yes, nil, e, next, r)
	case predThen:
		return p.emitThen(g.goal, args[0], args[1], nil, e, next, r)
	case predOr:
		if then, ok := e.walk(args[0]).(compoundTemplate); ok && then.functor == syntax.AtomThen &&
			len(then.args) == 2 {
			return p.emitThen(g.goal, then.args[0], then.args[1], args[1], e, next, r)
		}
		return p.emitOr(g, alternatives(e, t), e, next, r)
	case predCount:
		return p.emitSum(g.goal, t, constant(numberValue(1)), args[0], args[1], typeWord, e, r)
	case predSum:
		return p.emitSum(g.goal, t, args[0], args[1], args[2], typeNumber, e, r)
	}
	if table := p.compiler.table(q); table != nil {
		return p.emitTable(t, table, q, args, e, r)
	}
	if p.compiler.recursive[q] {
		return p.emitCall(t, q, args, e, r)
	}
	return unsupportedf("%s is not compiled", q)
}

// nested plans a conjunction inside a goal; its bindings are not visible outside. needed are the
// templates whose values last needs.
func (p *planner) nested(g goal, t template, e *bindings, counting bool, needed []template,
	last doneFunc) (ops []op, alive bool, err error) {
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
	p.lookups.absent = nil
	ops, alive, err := p.nested(g, inner, e, false, nil, nil)
	if err != nil {
		return err
	}
	p.explain.worst(at)
	p.explain.scope(at)
	switch {
	case !alive:
		r.ops = failing(ops)
	case len(ops) == 0:
		r.dead = true
	// one query, and nothing else
	case len(ops) == 1 && len(p.explain.steps) == at+2 && p.lookups.absent != nil:
		r.ops = []op{p.lookups.absent}
	default:
		r.ops = []op{notOp(ops)}
	}
	return nil
}

// failing makes the ops of the negation of a search without solutions. The search still runs, for
// the mistakes that it may meet before the goal that is never true.
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
	p.explain.scope(at)
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
