package compile

import (
	"fsward/invariants/syntax"
	"fsward/invariants/verdict"
	"slices"
)

// emitThen emits if-then-else; otherwise is nil for if-then.
func (p *planner) emitThen(g goal, condition, then, otherwise template, e *bindings,
	next continuation, r *result) error {
	p.explain.step(e, condition, "condition", verdict.Constant)
	at := len(p.explain.steps) - 1
	yes := e.clone()
	outer, depth := p.mode, p.explain.depth
	p.mode = mode{exists: true, trial: outer.trial}
	p.explain.depth++
	met := false
	// The condition has one path, so its bindings are known afterwards.
	search, err := p.plan([]goal{{condition, g.at}}, yes,
		append(slices.Clone(next.needed), then, templatesOf(next.rest)),
		func(after *bindings) ([]op, error) {
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
	p.explain.filters(at + 1)
	alwaysFalse := template(constant(atomValue(atomFail)))
	if otherwise == nil {
		otherwise = alwaysFalse
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
	return p.emitBranches(branches, e, next, r,
		func(ops [][]op) op { return thenOp(search, ops[0], ops[1]) })
}

// templatesOf combines goals into one template.
func templatesOf(goals []goal) template {
	args := make([]template, len(goals))
	for i, g := range goals {
		args[i] = g.t
	}
	return compoundTemplate{syntax.AtomComma, args}
}

// A branch is one alternative of a goal.
type branch struct {
	goals []goal
	env   *bindings
}

func (p *planner) emitOr(g *goalInfo, list []template, e *bindings, next continuation,
	r *result) error {
	var branches []branch
	for _, t := range list {
		branches = append(branches, branch{[]goal{{t, g.at}}, e.clone()})
	}
	return p.emitBranches(branches, e, next, r, orOp)
}

// emitBranches plans branches. If they give values to variables that later goals need, each branch
// continues with all that follows, and knows what it has found. Otherwise, or if that would make
// too many paths, the branches come together again.
func (p *planner) emitBranches(branches []branch, e *bindings, next continuation, r *result,
	combine func([][]op) op) error {
	wanted := append(slices.Clone(next.needed), templatesOf(next.rest))
	outs := outsOf(branches, e, wanted)
	if paths := max(1, p.branches) * len(branches); len(outs) > 0 && paths <= maxBranches {
		return p.emitPaths(branches, paths, next, r, combine)
	}
	return p.emitJoined(branches, outs, e, wanted, r, combine)
}

// outsOf returns the variables without a value that later goals need and to which some branch may
// give one.
func outsOf(branches []branch, e *bindings, wanted []template) (outs []variable) {
	seen := map[variable]bool{}
	note := func(v variable) {
		isWanted := func(w template) bool { return e.occurs(v, w) }
		if e.bound[v] == nil && !seen[v] && slices.ContainsFunc(wanted, isWanted) {
			seen[v] = true
			outs = append(outs, v)
		}
	}
	for _, b := range branches {
		for _, t := range append([]template{templatesOf(b.goals)}, boundBy(e, b.env)...) {
			b.env.free(t, func(v variable) {
				if int(v) < len(e.bound) {
					note(v)
				}
			})
		}
		for i := range e.bound {
			if b.env.bound[i] != nil {
				note(variable(i))
			}
		}
	}
	return outs
}

// emitPaths plans branches that each continue with all that follows.
func (p *planner) emitPaths(branches []branch, paths int, next continuation, r *result,
	combine func([][]op) op) error {
	outer := p.branches
	p.branches = paths
	prefix := len(p.explain.steps)
	var all [][]op
	alive := false
	for i, b := range branches {
		if i > 0 && p.explain.depth == 0 {
			p.explain.steps = slices.Clone(p.explain.steps[:prefix:prefix])
		}
		depth := p.explain.depth
		if depth > 0 {
			p.explain.depth++
		}
		triggered, begun := p.starts.triggered, p.starts.begun
		at := len(p.explain.steps)
		ops, err := p.plan(append(slices.Clone(b.goals), next.rest...), b.env, next.needed,
			func(e *bindings) ([]op, error) {
				alive = true
				return next.done(e)
			})
		p.starts.triggered, p.starts.begun, p.explain.depth = triggered, begun, depth
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

// emitJoined plans branches that come together again. Afterwards, the values of outs are in
// registers.
func (p *planner) emitJoined(branches []branch, outs []variable, e *bindings, wanted []template,
	r *result, combine func([][]op) op) error {
	j := joinPoint{outs: outs, registers: make([]int, len(outs)), types: make([]valueType, len(outs))}
	for i := range outs {
		j.registers[i] = p.registers.next()
	}
	// If true, one solution of any branch is enough. Otherwise every branch runs, for the mistakes
	// that it may meet.
	once := len(outs) == 0 && !p.mode.counting && p.mode.exists
	outer := p.mode
	p.mode.top, p.mode.exists = false, once
	p.explain.depth++
	var all [][]op
	for i, b := range branches {
		at := len(p.explain.steps)
		ops, err := p.plan(b.goals, b.env, wanted, j.assign)
		if err != nil {
			return err
		}
		p.explain.beside(i, at)
		all = append(all, ops)
	}
	p.mode.top, p.mode.exists = outer.top, outer.exists
	p.explain.depth--
	if !j.reached {
		r.ops, r.complete = deadEnd(combine(all)), true
		return nil
	}
	for i, v := range outs {
		e.bound[v] = register{j.registers[i], j.types[i]}
		p.registers.label(e, j.registers[i], v)
	}
	// keep the variables that the branches made apart from later ones
	for len(e.bound) < maxEnv(branches) {
		e.fresh(1)
	}
	if once {
		r.ops = []op{onceOp([]op{combine(all)})}
	} else {
		r.ops = []op{combine(all)}
	}
	return nil
}

// A joinPoint is where branches come together: each branch leaves the values of some variables in
// the same registers.
type joinPoint struct {
	outs      []variable
	registers []int
	types     []valueType // of the values, if all branches agree
	reached   bool        // some branch reaches it
	typed     bool
}

// assign makes the last op of a branch.
func (j *joinPoint) assign(e *bindings) ([]op, error) {
	j.reached = true
	if len(j.outs) == 0 {
		return nil, nil
	}
	values := make([]operand, len(j.outs))
	for i, v := range j.outs {
		x, ok := pack(e, v)
		if !ok {
			return nil, unsupportedf("%s may have no value after a disjunction", e.name(v))
		}
		values[i] = x
		t := typeAny
		if have, isRegister := e.walk(v).(register); isRegister {
			t = have.typ
		}
		if !j.typed {
			j.types[i] = t
		} else if j.types[i] != t {
			j.types[i] = typeAny
		}
	}
	j.typed = true
	return []op{assignOp(j.registers, values)}, nil
}

// deadEnd makes the ops of branches that each end at a goal that is never true. They still run, for
// the mistakes that they may meet before it.
func deadEnd(branches op) []op { return []op{branches, failOp} }

// boundBy returns the values that a branch has given to variables so far.
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
