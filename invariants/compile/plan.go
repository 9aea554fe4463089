package compile

import (
	"slices"
	"strings"

	"github.com/ichiban/prolog/engine"

	"fsward/invariants/syntax"
	"fsward/invariants/verdict"
)

const (
	maxInlined  = 4000 // clauses of helpers that are inlined into one clause of a rule
	maxBranches = 64   // paths into which one clause of a rule may split
)

// A goal is a goal of a conjunction, with the clause that contains it.
type goal struct {
	t  template
	at *syntax.ClauseText
}

// A planner makes the plan of one clause of a rule, or of a procedure. It orders the goals of a
// conjunction and emits the ops of each; its parts know how.
type planner struct {
	compiler *compiler
	layout   *layout
	at       *syntax.ClauseText
	mode     mode
	branches int // paths into which the conjunction has split so far, 0 for one

	registers      registerFile
	explain        explainer
	starts         starts
	unifier        unifier
	patterns       patternMaker
	arithmetic     arithmetic
	costs          chooser
	inliner        inliner
	contradictions contradictions
	values         valueEmitter
	lookups        lookupEmitter

	// A plan that adds up a sum may turn out to be impossible. In such a trial, mistakes set
	// refused and are not reported.
	refused bool
	unknown []variable // the keys of the sum, to which the goals of its pass give values
}

// mode says which solutions of a conjunction are needed.
type mode struct {
	top      bool // the conjunction is the body of a rule
	counting bool // each solution counts, even if others give the same values
	exists   bool // one solution is enough
	trial    bool // it adds up a sum over all changes, and may be refused
}

// newPlanner returns a planner for a clause.
func newPlanner(c *compiler, at *syntax.ClauseText, m mode) *planner {
	p := &planner{compiler: c, layout: c.layout, at: at, mode: m}
	in := c.layout.interner
	v := in.vocabulary
	p.explain = explainer{interner: in, registers: &p.registers, starts: &p.starts}
	p.starts.layout, p.starts.explain = c.layout, &p.explain
	p.unifier = unifier{registers: &p.registers}
	p.patterns = patternMaker{vocabulary: v, interner: in, registers: &p.registers,
		unifier: &p.unifier}
	p.arithmetic = arithmetic{interner: in}
	p.costs = chooser{vocabulary: v}
	p.inliner = inliner{compiler: c, explain: &p.explain, unifier: &p.unifier}
	p.contradictions = contradictions{patterns: &p.patterns, arithmetic: &p.arithmetic,
		explain: &p.explain}
	p.values = valueEmitter{interner: in, registers: &p.registers, explain: &p.explain,
		unifier: &p.unifier, arithmetic: &p.arithmetic}
	p.lookups = lookupEmitter{layout: c.layout, vocabulary: v, mode: &p.mode,
		registers: &p.registers, explain: &p.explain, starts: &p.starts, patterns: &p.patterns,
		arithmetic: &p.arithmetic, costs: &p.costs}
	return p
}

// A continuation is the part of a plan after a goal: the goals that are not emitted yet, the
// templates whose values are needed after them, and the last op.
type continuation struct {
	rest   []goal
	needed []template
	done   doneFunc
}

// A doneFunc makes the ops that follow a conjunction. It is called once for each path through it.
type doneFunc func(e *bindings) ([]op, error)

// finish adds the finished plan to the plans of a clause.
func (p *planner) finish(out *program) {
	plan := verdict.Plan{Rule: out.rule.Name, Source: out.source, Steps: slices.Clone(p.explain.steps)}
	for _, s := range plan.Steps {
		if strings.HasPrefix(s.Goal, "change(") && s.Depth == 0 {
			plan.Trigger = s.Goal
			break
		}
	}
	out.explains = append(out.explains, plan)
}

// plan makes the ops of a conjunction and of its continuation.
func (p *planner) plan(goals []goal, e *bindings, needed []template, done doneFunc) ([]op, error) {
	goals, _, err := p.inliner.flatten(goals, e)
	if err != nil {
		return nil, err
	}
	list := p.analyze(goals, e, needed)
	var ops []op
	for len(list) > 0 {
		i, err := p.costs.choose(list, e, p.mode.top && !p.starts.triggered, p.branches)
		if err != nil {
			return nil, err
		}
		g := list[i]
		list = slices.Delete(list, i, i+1)
		rest := make([]goal, len(list))
		for i, x := range list {
			rest[i] = x.goal
		}
		r := result{}
		if err := p.emit(g, e, continuation{rest, needed, done}, &r); err != nil {
			return nil, err
		}
		if r.dead {
			// the goals before it may err, and so may what the goal itself computes
			return slices.Concat(ops, r.ops, p.explain.kill(e, g.t)), nil
		}
		ops = append(ops, r.ops...)
		if r.query != nil {
			list = p.lookups.joinQueries(r.query, g.t, list, e)
		}
		if r.complete {
			return ops, nil
		}
		if r.again { // other goals replace it
			more, err := p.plan(append(r.goals, rest...), e, needed, done)
			return append(ops, more...), err
		}
	}
	last, err := done(e)
	return append(ops, last...), err
}

// A result is the outcome of emitting a goal.
type result struct {
	ops      []op
	dead     bool       // the goal can never be true
	complete bool       // the ops include everything that follows
	again    bool       // goals are planned in its place
	goals    []goal     //
	query    *queryGoal // the query of the last op, if it asks for fields
}

var (
	atomFail   = engine.NewAtom("fail")
	atomZero   = engine.NewAtom("zero_for_null")
	atomEquals = engine.NewAtom("=")
	atomTrue   = engine.NewAtom("true")
)
