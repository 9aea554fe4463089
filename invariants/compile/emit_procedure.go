package compile

import (
	"fmt"
	"strings"

	"fsward/invariants/syntax"
	"fsward/invariants/verdict"
)

// A procedure is a recursive helper, compiled for one pattern of known arguments. Each call has a
// frame of its own. Known arguments come in the first registers.
type procedure struct {
	registers int
	ins, outs []int
	first     step
}

const maxArity = 8 // of a helper: ruleset.Load accepts no more

// emitCall emits a call of a recursive helper.
func (p *planner) emitCall(t template, q syntax.Indicator, args []template, e *bindings,
	r *result) error {
	pattern, ins, wanted := callPattern(q, args, e)
	proc, err := p.procedure(pattern, q)
	if err != nil {
		return err
	}
	info := p.explain.step(e, t, "a helper that calls itself", verdict.LogN)
	p.explain.rows("calls of "+q.String(), false)
	if len(wanted) == 0 {
		p.explain.filters(len(p.explain.steps) - 1)
	}
	c := p.callOf(proc, ins, len(wanted), info)
	r.ops = []op{c.each}
	return p.giveResults(c.results, wanted, e, r)
}

// emitOnce emits once(CALL) of a recursive helper, whose answer is kept. ok is false if it is
// anything else: a result that is partly known could reject the first answer.
func (p *planner) emitOnce(inner template, e *bindings, r *result) (ok bool, err error) {
	q, args, isGoal := goalOfTemplate(e.walk(inner))
	if !isGoal || !p.compiler.recursive[q] {
		return false, nil
	}
	pattern, ins, wanted := callPattern(q, args, e)
	seen := map[template]bool{}
	for _, w := range wanted {
		v, isVariable := e.walk(w).(variable)
		if !isVariable || seen[v] {
			return false, nil
		}
		seen[v] = true
	}
	proc, err := p.procedure(pattern, q)
	if err != nil {
		return true, err
	}
	info := p.explain.step(e, inner, "a helper that calls itself, its answer kept", verdict.LogN)
	c := p.callOf(proc, ins, len(wanted), info)
	c.number = p.compiler.number(pattern)
	r.ops = []op{c.once}
	return true, p.giveResults(c.results, wanted, e, r)
}

// callPattern returns the arguments of a call that have values, those that have none, and the
// pattern that they make.
func callPattern(q syntax.Indicator, args []template, e *bindings) (pattern string, ins []operand,
	wanted []template) {
	var b strings.Builder
	fmt.Fprintf(&b, "%s:", q)
	for _, a := range args {
		if v, ok := pack(e, a); ok {
			b.WriteByte('i')
			ins = append(ins, v)
		} else {
			b.WriteByte('o')
			wanted = append(wanted, a)
		}
	}
	return b.String(), ins, wanted
}

// callOf returns a call with registers for its results.
func (p *planner) callOf(proc *procedure, ins []operand, results int, info *stepInfo) *call {
	c := &call{procedure: proc, ins: ins, results: make([]int, results), info: info}
	for i := range c.results {
		c.results[i] = p.registers.next()
	}
	return c
}

// giveResults gives the results of a call to the arguments that had no value.
func (p *planner) giveResults(results []int, wanted []template, e *bindings, r *result) error {
	for i, w := range wanted {
		ops, alive := p.unifier.unify(e, w, register{results[i], typeAny}, true)
		if !alive {
			r.dead = true
			return nil
		}
		r.ops = append(r.ops, ops...)
	}
	return nil
}

// procedure returns the procedure for a pattern of arguments. It compiles the procedure at its
// first use.
func (p *planner) procedure(pattern string, q syntax.Indicator) (*procedure, error) {
	c := p.compiler
	if proc, ok := c.procedures[pattern]; ok {
		if proc.failed != nil {
			return nil, proc.failed
		}
		return proc.procedure, nil
	}
	entry := &procedureEntry{procedure: &procedure{}}
	c.procedures[pattern] = entry
	if err := c.compileProcedure(entry.procedure, pattern[strings.LastIndexByte(pattern, ':')+1:],
		q); err != nil {
		entry.failed = err
		return nil, err
	}
	return entry.procedure, nil
}

type procedureEntry struct {
	procedure *procedure
	failed    error
}

func (c *compiler) compileProcedure(proc *procedure, pattern string, q syntax.Indicator) error {
	clauses := c.predicates[q]
	p := newPlanner(c, &clauses[0].Text, mode{counting: true})
	p.explain.depth = 1
	e := &bindings{}
	args := make([]template, q.Arity)
	var outs []variable
	for i, mode := range pattern {
		if mode == 'i' {
			r := p.registers.next()
			args[i] = register{r, typeAny}
			proc.ins = append(proc.ins, r)
			continue
		}
		v := e.fresh(maxArity)
		outs = append(outs, v)
		args[i] = v
	}
	for range outs {
		proc.outs = append(proc.outs, p.registers.next())
	}
	call := goal{compoundTemplate{q.Name, args}, &clauses[0].Text}
	p.inliner.opening = q // inline the helper's clauses once, here
	body, alive, err := p.inliner.inline(nil, call, q, args, e)
	if err != nil {
		return err
	}
	if !alive {
		proc.first = func(*machine) bool { return false }
		return nil
	}
	needed := make([]template, len(outs))
	for i, v := range outs {
		needed[i] = v
	}
	ops, err := p.plan(body, e, needed, func(e *bindings) ([]op, error) {
		values := make([]operand, len(outs))
		for i, v := range outs {
			x, ok := pack(e, v)
			if !ok {
				return nil, unsupportedf("%s leaves an argument without a value", q)
			}
			values[i] = x
		}
		return []op{assignOp(proc.outs, values), returnOp(proc)}, nil
	})
	if err != nil {
		return err
	}
	proc.registers, proc.first = p.registers.count, sequence(ops, nil)
	return nil
}
