package compile

import (
	"slices"

	"github.com/ichiban/prolog/engine"

	"fsward/invariants/verdict"
)

var atomSum = engine.NewAtom("sum")

// emitSum emits sum(AMOUNT, GOAL, WANT), and count(GOAL, WANT) as the sum of ones.
func (p *planner) emitSum(g goal, t, amount, inner, want template, typ valueType, e *bindings,
	r *result) error {
	p.explain.step(e, t, "a sum over all answers", verdict.Constant)
	at := len(p.explain.steps) - 1
	remote := p.starts.remote
	counter := p.layout.counters
	p.layout.counters++
	ops, alive, err := p.nested(g, inner, e, true, []template{amount},
		func(e *bindings) ([]op, error) {
			x, ok := p.arithmetic.expression(e, amount)
			if !ok {
				return nil, unsupportedf("%s adds something that is not a number or has no value yet",
					p.explain.text(e, t))
			}
			return []op{addOp(x, counter)}, nil
		})
	if err != nil {
		return err
	}
	p.explain.worst(at)
	p.explain.scope(at)
	var kept *keptSum
	if alive {
		kept = p.keepSum(g, amount, inner, e, at)
	}
	if kept != nil {
		if kept.local = p.starts.remote == remote; !kept.local {
			p.layout.addPass(kept, p)
		}
	}
	n := p.registers.next()
	r.ops = []op{sumOp(ops, kept, counter, n)}
	return p.values.give(e, want, register{n, typ}, r)
}

// keepSum plans the sum for all keys at once: the goal with variables in place of its registers. It
// returns nil if that means something else, or costs more than a search for each change.
func (p *planner) keepSum(g goal, amount, inner template, e *bindings, at int) *keptSum {
	whole := e.resolve(compoundTemplate{atomSum, []template{amount, inner}}).(compoundTemplate)
	kept := &keptSum{keys: e.sumKeys(amount, inner)}
	if kept.keys == nil || len(kept.keys) > maxSumKeys {
		return nil
	}
	outer := *p
	trial, open := e.clone(), map[int]variable{}
	p.unknown = slices.Clone(p.unknown)
	keys := make([]template, len(kept.keys))
	for i, r := range kept.keys {
		v := trial.fresh(maxArity)
		keys[i], open[r.index], trial.info[v].name = v, v, p.registers.names[r.index]
		p.unknown = append(p.unknown, v)
	}
	table := p.layout.sum(p.compiler.property(whole), len(keys))
	amount, inner = opened(whole.args[0], open), opened(whole.args[1], open)
	p.mode = mode{top: true, counting: true, trial: true}
	p.starts.triggers, p.starts.triggered = nil, false
	p.explain.steps, p.refused, p.branches = nil, false, 0
	p.explain.depth++
	ops, err := p.plan([]goal{{inner, g.at}}, trial, append(slices.Clone(keys), amount),
		func(e *bindings) ([]op, error) {
			x, ok := p.arithmetic.expression(e, amount)
			if !ok || !p.starts.triggered {
				return nil, unsupportedf("no change begins the pass")
			}
			key := make([]operand, len(keys))
			for i, k := range keys {
				if key[i], ok = pack(e, k); !ok {
					return nil, unsupportedf("a key has no value")
				}
			}
			return []op{accountOp(table, x, key)}, nil
		})
	pass, refused, starts := p.explain.steps, p.refused, p.starts.triggers
	registers, byReg := p.registers.count, p.registers.names
	*p = outer
	p.registers.count, p.registers.names = registers, byReg
	if err != nil || refused || slices.ContainsFunc(pass,
		func(s verdict.Step) bool { return s.Warning != "" }) {
		return nil
	}
	for _, g := range starts {
		g.list = p.layout.whole.declare(g.spec)
	}
	if classRank[p.explain.steps[at].Class] > classRank[verdict.LogN] {
		p.layout.sums[table].eager = true
	}
	p.explain.steps[at].Access, p.explain.steps[at].Class = p.registers.keptText(kept.keys),
		verdict.Constant
	p.explain.steps = append(p.explain.steps[:at+1:at+1], pass...)
	p.explain.steps[at].Kept = true
	kept.table, kept.pass = table, sequence(ops, nil)
	return kept
}

// sumKeys returns the registers in the inner goal of a sum, without repetition. It returns nil if
// the amount has others.
func (e *bindings) sumKeys(amount, inner template) []register {
	keys, foreign := []register{}, false
	e.registers(inner, func(r register) {
		if !slices.Contains(keys, r) {
			keys = append(keys, r)
		}
	})
	e.registers(amount, func(r register) { foreign = foreign || !slices.Contains(keys, r) })
	if foreign {
		return nil
	}
	return keys
}

// opened replaces registers by variables.
func opened(t template, open map[int]variable) template {
	switch t := t.(type) {
	case register:
		if v, ok := open[t.index]; ok {
			return v
		}
	case compoundTemplate:
		args := make([]template, len(t.args))
		for i, a := range t.args {
			args[i] = opened(a, open)
		}
		return compoundTemplate{t.functor, args}
	}
	return t
}
