package compile

import (
	"fmt"
	"slices"
	"strings"

	"github.com/ichiban/prolog/engine"

	"fsward/invariants/verdict"
)

var atomSum = engine.NewAtom("sum")

// emitSum places sum(AMOUNT, GOAL, WANT), and count(GOAL, WANT) as the sum of ones.
func (p *planner) emitSum(g goal, t, amount, inner, want template, typ valueType, e *bindings, r *result) error {
	p.step(e, t, "a sum over all answers", verdict.Constant)
	at := len(p.steps) - 1
	remote := p.remote
	p.compiler.counters++
	counter := p.compiler.counters - 1
	ops, alive, err := p.nested(g, inner, e, true, []template{amount}, func(e *bindings) ([]op, error) {
		x, ok := p.expression(e, amount)
		if !ok {
			return nil, unsupportedf("%s adds what is no number, or has no value yet", p.text(e, t))
		}
		return []op{addOp(x, counter)}, nil
	})
	if err != nil {
		return err
	}
	p.worst(at)
	var kept *keptSum
	if alive {
		kept = p.keepSum(g, amount, inner, e, at)
	}
	if kept != nil {
		if kept.local = p.remote == remote; !kept.local {
			p.machine.addPass(kept, p)
		}
	}
	n := p.register()
	r.ops = []op{sumOp(ops, kept, counter, n)}
	return p.give(e, want, register{n, typ}, r)
}

// keepSum plans the sum for all keys at once: the goal with variables in the place of the registers that it
// would be given. It returns nil where that means something else, or costs more than a search for each change.
func (p *planner) keepSum(g goal, amount, inner template, e *bindings, at int) *keptSum {
	whole := e.resolve(compoundTemplate{atomSum, []template{amount, inner}}).(compoundTemplate)
	kept := &keptSum{}
	e.registers(inner, func(r register) {
		if !slices.Contains(kept.keys, r) {
			kept.keys = append(kept.keys, r)
		}
	})
	foreign := false
	e.registers(amount, func(r register) { foreign = foreign || !slices.Contains(kept.keys, r) })
	if len(kept.keys) > maxSumKeys || foreign {
		return nil
	}
	outer := *p
	trial, open := e.clone(), map[int]variable{}
	p.unknown = slices.Clone(p.unknown)
	keys := make([]template, len(kept.keys))
	for i, r := range kept.keys {
		v := trial.fresh(maxArity)
		keys[i], open[r.index], trial.names[v] = v, v, p.byReg[r.index]
		p.unknown = append(p.unknown, v)
	}
	table := p.machine.sumTable(p.compiler.property(whole), len(keys))
	amount, inner = opened(whole.args[0], open), opened(whole.args[1], open)
	p.triggers = nil
	p.steps, p.trial, p.refused, p.top, p.triggered, p.counting, p.exists, p.branches = nil, true, false, true, false, true, false, 0
	p.depth++
	ops, err := p.plan([]goal{{inner, g.at}}, trial, append(slices.Clone(keys), amount), func(e *bindings) ([]op, error) {
		x, ok := p.expression(e, amount)
		if !ok || !p.triggered {
			return nil, unsupportedf("no change begins the pass")
		}
		key := make([]operand, len(keys))
		for i, k := range keys {
			if key[i], ok = p.pack(e, k); !ok {
				return nil, unsupportedf("a key has no value")
			}
		}
		return []op{accountOp(table, x, key)}, nil
	})
	pass, refused, starts := p.steps, p.refused, p.triggers
	registers, byReg := p.registers, p.byReg
	*p = outer
	p.registers, p.byReg = registers, byReg
	if err != nil || refused || slices.ContainsFunc(pass, func(s verdict.Step) bool { return s.Warning != "" }) {
		return nil
	}
	for _, g := range starts {
		g.list = p.machine.lists.whole.declare(g.spec)
	}
	table.eager = table.eager || classRank[p.steps[at].Class] > classRank[verdict.LogN]
	p.steps[at].Access, p.steps[at].Class = keptText(p, kept.keys), verdict.Constant
	p.steps = append(p.steps[:at+1:at+1], pass...)
	kept.table, kept.pass = table, sequence(ops, nil)
	return kept
}

// keptText says how a sum is kept.
func keptText(p *planner, keys []register) string {
	if len(keys) == 0 {
		return "kept: one pass over the changes below"
	}
	var names []string
	for _, r := range keys {
		names = append(names, p.byReg[r.index])
	}
	return fmt.Sprintf("kept for each %s: one pass over the changes below", strings.Join(names, ", "))
}

// opened puts variables in the place of registers.
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
