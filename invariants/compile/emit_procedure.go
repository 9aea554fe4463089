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
	var pattern strings.Builder
	fmt.Fprintf(&pattern, "%s:", q)
	var ins []operand
	var wanted []template
	for _, a := range args {
		if v, ok := pack(e, a); ok {
			pattern.WriteByte('i')
			ins = append(ins, v)
		} else {
			pattern.WriteByte('o')
			wanted = append(wanted, a)
		}
	}
	proc, err := p.procedure(pattern.String(), q)
	if err != nil {
		return err
	}
	info := p.explain.step(e, t, "a helper that calls itself", verdict.LogN)
	results := make([]int, len(wanted))
	for i := range results {
		results[i] = p.registers.next()
	}
	r.ops = []op{callOp(proc, ins, results, info)}
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
	p := newPlanner(c, clauses[0].Text, mode{counting: true})
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
	call := goal{compoundTemplate{q.Name, args}, clauses[0].Text}
	c.recursive[q] = false // inline the helper's clauses once, here
	body, alive, err := p.inliner.inline(call, q, args, e)
	c.recursive[q] = true
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

// callOp calls a procedure and continues with each of its solutions.
func callOp(proc *procedure, ins []operand, results []int, info *stepInfo) op {
	return func(next step) step {
		then := func(m *machine) bool {
			for i, r := range results {
				m.r[r] = m.returned[i]
			}
			return next(m)
		}
		return func(m *machine) bool {
			if m.row(info) {
				return true
			}
			if m.depth >= m.options.MaxDepth {
				return m.fail(errMistake)
			}
			caller, top := m.frame, len(m.stack)
			f := m.push(proc.registers, caller, then)
			for i, v := range ins {
				f.registers[proc.ins[i]] = v(m)
			}
			m.depth++
			m.frame, m.r = f, f.registers
			stop := proc.first(m)
			m.frame, m.r = caller, caller.registers
			m.depth--
			m.stack = m.stack[:top]
			m.free(f)
			return stop
		}
	}
}

// returnOp continues in the frame of the caller.
func returnOp(proc *procedure) op {
	return func(step) step {
		return func(m *machine) bool {
			f := m.frame
			for i, r := range proc.outs {
				m.returned[i] = f.registers[r]
			}
			m.frame, m.r = f.caller, f.caller.registers
			stop := f.then(m)
			m.frame, m.r = f, f.registers
			return stop
		}
	}
}
