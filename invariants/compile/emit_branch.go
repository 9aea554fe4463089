package compile

import (
	"fsward/invariants/syntax"
	"fsward/invariants/verdict"
	"slices"
)

// emitThen places if-then-else; otherwise is nil for if-then.
func (p *planner) emitThen(g goal, condition, then, otherwise template, e *bindings, rest []goal, needed []template, done doneFunc, r *result) error {
	p.explain.step(e, condition, "condition", verdict.Constant)
	at := len(p.explain.steps) - 1
	yes := e.clone()
	outer, depth := p.mode, p.explain.depth
	p.mode = mode{exists: true, trial: outer.trial}
	p.explain.depth++
	met := false
	// The condition has one path, so that what it binds is known behind it.
	search, err := p.plan([]goal{{condition, g.at}}, yes, append(slices.Clone(needed), then, templatesOf(rest)), func(after *bindings) ([]op, error) {
		if met {
			return nil, unsupportedf("a condition that is a disjunction with bindings")
		}
		met = true
		*yes = *after
		return nil, nil
	})
	p.mode, p.explain.depth = outer, depth
	if err != nil {
		return err
	}
	p.explain.worst(at)
	never := template(constant(atomValue(atomFail)))
	if otherwise == nil {
		otherwise = never
	}
	if !met {
		r.ops = failing(search)
		r.again, r.goals = true, []goal{{otherwise, g.at}}
		return nil
	}
	if len(search) == 0 {
		*e = *yes
		r.again, r.goals = true, []goal{{then, g.at}}
		return nil
	}
	branches := []branch{{[]goal{{then, g.at}}, yes}, {[]goal{{otherwise, g.at}}, e.clone()}}
	return p.emitBranches(branches, e, rest, needed, done, r, func(ops [][]op) op { return thenOp(search, ops[0], ops[1]) })
}

// templatesOf makes one template of what is in goals.
func templatesOf(goals []goal) template {
	args := make([]template, len(goals))
	for i, g := range goals {
		args[i] = g.t
	}
	return compoundTemplate{syntax.AtomComma, args}
}

// branch is one way on from a goal.
type branch struct {
	goals []goal
	env   *bindings
}

func (p *planner) emitOr(g *goalInfo, list []template, e *bindings, rest []goal, needed []template, done doneFunc, r *result) error {
	var branches []branch
	for _, t := range list {
		branches = append(branches, branch{[]goal{{t, g.at}}, e.clone()})
	}
	return p.emitBranches(branches, e, rest, needed, done, r, orOp)
}

// emitBranches plans branches. Where they give no variable a value that is needed behind them, or would be too
// many, they come together again; else each goes on with all that follows, and knows what it has found.
func (p *planner) emitBranches(branches []branch, e *bindings, rest []goal, needed []template, done doneFunc, r *result, combine func([][]op) op) error {
	var outs []variable
	seen := map[variable]bool{}
	wanted := append(slices.Clone(needed), templatesOf(rest))
	for _, b := range branches {
		for _, t := range append([]template{templatesOf(b.goals)}, boundBy(e, b.env)...) {
			b.env.free(t, func(v variable) {
				if int(v) < len(e.bound) && e.bound[v] == nil && !seen[v] && slices.ContainsFunc(wanted, func(w template) bool { return e.occurs(v, w) }) {
					seen[v] = true
					outs = append(outs, v)
				}
			})
		}
		for i := range e.bound {
			v := variable(i)
			if e.bound[v] == nil && b.env.bound[v] != nil && !seen[v] && slices.ContainsFunc(wanted, func(w template) bool { return e.occurs(v, w) }) {
				seen[v] = true
				outs = append(outs, v)
			}
		}
	}
	paths := max(1, p.branches) * len(branches)
	if len(outs) > 0 && paths <= maxBranches {
		outer := p.branches
		p.branches = paths
		prefix := len(p.explain.steps)
		var all [][]op
		alive := false
		for i, b := range branches {
			steps := p.explain.steps[:prefix:prefix]
			if i > 0 && p.explain.depth == 0 {
				p.explain.steps = slices.Clone(steps)
			}
			depth := p.explain.depth
			if depth > 0 {
				p.explain.depth++
			}
			triggered, onTurn := p.starts.triggered, p.starts.begun
			at := len(p.explain.steps)
			ops, err := p.plan(append(slices.Clone(b.goals), rest...), b.env, needed, func(e *bindings) ([]op, error) {
				alive = true
				return done(e)
			})
			p.starts.triggered, p.starts.begun, p.explain.depth = triggered, onTurn, depth
			p.explain.beside(i, at)
			if err != nil {
				return err
			}
			all = append(all, ops)
		}
		p.branches = outer
		r.ops, r.complete = []op{combine(all)}, true
		if !alive {
			r.ops = deadEnd(combine(all))
		}
		return nil
	}
	registers := make([]int, len(outs))
	for i := range outs {
		registers[i] = p.registers.next()
	}
	types := make([]valueType, len(outs))
	first := true
	once := len(outs) == 0 && !p.mode.counting && p.mode.exists // else each branch is run, for the mistakes that it may meet
	top, exists := p.mode.top, p.mode.exists
	p.mode.top, p.mode.exists = false, once
	p.explain.depth++
	var all [][]op
	alive := false
	for i, b := range branches {
		at := len(p.explain.steps)
		ops, err := p.plan(b.goals, b.env, wanted, func(e *bindings) ([]op, error) {
			alive = true
			if len(outs) == 0 {
				return nil, nil
			}
			values := make([]operand, len(outs))
			for i, v := range outs {
				x, ok := pack(e, v)
				if !ok {
					return nil, unsupportedf("%s may have no value behind a disjunction", e.name(v))
				}
				values[i] = x
				t := typeAny
				if have, isRegister := e.walk(v).(register); isRegister {
					t = have.typ
				}
				if first {
					types[i] = t
				} else if types[i] != t {
					types[i] = typeAny
				}
			}
			first = false
			return []op{assignOp(registers, values)}, nil
		})
		if err != nil {
			return err
		}
		p.explain.beside(i, at)
		all = append(all, ops)
	}
	p.mode.top, p.mode.exists = top, exists
	p.explain.depth--
	if !alive {
		r.ops, r.complete = deadEnd(combine(all)), true
		return nil
	}
	for i, v := range outs {
		e.bound[v] = register{registers[i], types[i]}
		p.registers.label(e, registers[i], v)
	}
	for len(e.bound) < maxEnv(branches) { // variables that the branches made stay theirs
		e.fresh(1)
	}
	if once {
		r.ops = []op{onceOp([]op{combine(all)})}
	} else {
		r.ops = []op{combine(all)}
	}
	return nil
}

// deadEnd makes the ops of branches that each end at a goal that is never true. They are run for the mistakes that they
// may meet before it.
func deadEnd(branches op) []op { return []op{branches, failOp} }

// boundBy are the values that a branch has given variables so far.
func boundBy(e, b *bindings) []template {
	var list []template
	for i := range e.bound {
		if e.bound[i] == nil && b.bound[i] != nil {
			list = append(list, b.bound[i])
		}
	}
	return list
}

func maxEnv(branches []branch) int {
	n := 0
	for _, b := range branches {
		n = max(n, len(b.env.bound))
	}
	return n
}
