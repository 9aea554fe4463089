package compile

import (
	"slices"
	"strings"

	"github.com/ichiban/prolog/engine"

	"fsward/invariants/syntax"
	"fsward/invariants/verdict"
)

const (
	maxInlined  = 4000 // clauses of helpers that are put into one clause of a rule
	maxBranches = 64   // paths that one clause of a rule is split into
)

// goal is a goal of a conjunction, with the clause in which it is written.
type goal struct {
	t  template
	at syntax.ClauseText
}

// planner makes the plan of one clause of a rule, or of a procedure. It puts the goals of a conjunction into an order and
// emits the ops of each; its parts know how.
type planner struct {
	compiler *compiler
	machine  *machine
	at       syntax.ClauseText
	mode     mode
	branches int // paths that the conjunction is split into so far, 0 for one

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
	data           dataEmitter

	// A plan that adds up a sum may turn out to be impossible: then mistakes refuse it, and are not reported.
	refused bool
	unknown []variable // the keys of the sum, which the goals of its pass give values to
}

// mode says what is wanted of the solutions of a conjunction.
type mode struct {
	top      bool // it is the body of a rule
	counting bool // each solution counts, even if others give the same values
	exists   bool // one solution is enough
	trial    bool // it adds up a sum over all changes, and need not come about
}

// newPlanner returns a planner for a clause, whose parts know each other.
func newPlanner(c *compiler, at syntax.ClauseText, m mode) *planner {
	p := &planner{compiler: c, machine: c.machine, at: at, mode: m}
	in := &c.machine.interner
	v := in.vocabulary
	p.explain = explainer{interner: in, registers: &p.registers, starts: &p.starts}
	p.starts.machine, p.starts.explain = c.machine, &p.explain
	p.unifier = unifier{registers: &p.registers}
	p.patterns = patternMaker{vocabulary: v, interner: in, registers: &p.registers, unifier: &p.unifier}
	p.arithmetic = arithmetic{interner: in}
	p.costs = chooser{vocabulary: v}
	p.inliner = inliner{compiler: c, interner: in, explain: &p.explain, unifier: &p.unifier}
	p.contradictions = contradictions{patterns: &p.patterns, arithmetic: &p.arithmetic, explain: &p.explain}
	p.values = valueEmitter{interner: in, registers: &p.registers, explain: &p.explain, unifier: &p.unifier, arithmetic: &p.arithmetic}
	p.data = dataEmitter{machine: c.machine, vocabulary: v, mode: &p.mode, registers: &p.registers, explain: &p.explain,
		starts: &p.starts, patterns: &p.patterns, arithmetic: &p.arithmetic, costs: &p.costs}
	return p
}

// A sequel is what follows a goal: the goals that have no place yet, the templates whose values are needed behind them,
// and what comes last.
type sequel struct {
	rest   []goal
	needed []template
	done   doneFunc
}

// doneFunc makes what follows a conjunction; it is called once for each path through it.
type doneFunc func(e *bindings) ([]op, error)

// finish adds the plan that has been made to those of a clause.
func (p *planner) finish(out *compiledClause) {
	plan := verdict.Plan{Rule: out.rule.Name, Source: out.source, Steps: slices.Clone(p.explain.steps)}
	for _, s := range plan.Steps {
		if strings.HasPrefix(s.Goal, "change(") && s.Depth == 0 {
			plan.Trigger = s.Goal
			break
		}
	}
	out.explains = append(out.explains, plan)
}

// plan makes the ops of a conjunction and of what follows it.
func (p *planner) plan(goals []goal, e *bindings, needed []template, done doneFunc) ([]op, error) {
	goals, _, err := p.inliner.flatten(goals, e)
	if err != nil {
		return nil, err
	}
	list := p.analyse(goals, e, needed)
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
		if err := p.emit(g, e, sequel{rest, needed, done}, &r); err != nil {
			return nil, err
		}
		if r.dead {
			return slices.Concat(ops, r.ops, p.explain.kill(e, g.t)), nil // what comes before may err, and so may what the goal itself computes
		}
		ops = append(ops, r.ops...)
		if r.query != nil {
			list = p.data.joinQueries(r.query, g.t, list, e)
		}
		if r.complete {
			return ops, nil
		}
		if r.again { // goals were replaced
			more, err := p.plan(append(r.goals, rest...), e, needed, done)
			return append(ops, more...), err
		}
	}
	last, err := done(e)
	return append(ops, last...), err
}

// result is what placing a goal gives.
type result struct {
	ops      []op
	dead     bool       // it can never be true
	complete bool       // the ops have all that follows in them
	again    bool       // goals are to be planned in its place
	goals    []goal     //
	query    *queryGoal // that the last op asks, if it asks for fields
}

var (
	atomFail   = engine.NewAtom("fail")
	atomZero   = engine.NewAtom("zero_for_null")
	atomEquals = engine.NewAtom("=")
	atomTrue   = engine.NewAtom("true")
)
