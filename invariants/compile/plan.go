package compile

import (
	"fmt"
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

// planner makes the plan of one clause of a rule, or of a procedure.
type planner struct {
	compiler  *compiler
	machine   *machine
	at        syntax.ClauseText
	registers int
	byReg     map[int]string

	steps     []verdict.Step
	depth     int
	inlined   int
	branches  int
	top       bool // in the conjunction that is the body of a rule
	triggered bool
	triggers  []*changeGoal // that begin paths
	onTurn    bool          // this path begins with one
	lone      bool          // a path does not
	counting  bool          // each solution counts, also if others give the same
	exists    bool          // one solution is enough
	dead      string
	absent    op            // the negation of the query for one object that was placed last
	begins    []*changeGoal // what begins paths of a stream: triggers, and changes of an object that is known from the text
	onPart    bool          // this path begins with one
	loneOfAll bool          // a path does not
	remote    int           // changes placed so far that the state does not answer where everything is new
	spared    int           // 1 + the register that spare returns, 0 before it is needed

	// What is planned is the pass of a sum, which need not come about: mistakes refuse it.
	trial   bool
	refused bool
	unknown []variable // the keys, which the goals of the pass give values to
}

// doneFunc makes what follows a conjunction; it is called once for each path through it.
type doneFunc func(e *bindings) ([]op, error)

func (p *planner) register() int {
	p.registers++
	delete(p.byReg, p.registers-1) // that of another path may have had a name
	return p.registers - 1
}

// spare returns the register for what is not needed.
func (p *planner) spare() int {
	if p.spared == 0 {
		p.spared = p.register() + 1
	}
	return p.spared - 1
}

// load makes a register for a variable.
func (p *planner) load(e *bindings, v variable, t valueType) int {
	r := p.register()
	if p.byReg == nil {
		p.byReg = map[int]string{}
	}
	p.byReg[r] = e.name(v)
	e.bound[v] = register{r, t}
	return r
}

// text writes a goal for a person.
func (p *planner) text(e *bindings, t template) string {
	var b strings.Builder
	p.write(&b, e, t, syntax.MaxPriority, syntax.MaxTextDepth)
	return b.String()
}

// infixOf are the operators that write has between their operands.
var infixOf = syntax.StandardOperators().Infix

// write puts brackets around what has a higher priority than most.
func (p *planner) write(b *strings.Builder, e *bindings, t template, most, depth int) {
	if depth == 0 || b.Len() > syntax.MaxTextLen {
		b.WriteString("...")
		return
	}
	switch t := e.walk(t).(type) {
	case constant:
		b.WriteString(syntax.TermText(p.machine.term(value(t)), nil))
	case variable:
		b.WriteString(e.name(t))
	case register:
		if n := p.byReg[t.index]; n != "" {
			b.WriteString(n)
		} else {
			b.WriteByte('_')
		}
	case compoundTemplate:
		f := t.functor.String()
		if op, infix := infixOf[f]; infix && len(t.args) == 2 {
			if op.Priority > most {
				b.WriteByte('(')
				defer b.WriteByte(')')
			}
			p.write(b, e, t.args[0], op.Left, depth-1)
			if f == "," {
				b.WriteString(", ")
			} else {
				b.WriteString(" " + f + " ")
			}
			p.write(b, e, t.args[1], op.Right, depth-1)
			return
		}
		b.WriteString(syntax.AtomText(f))
		for i, a := range t.args {
			b.WriteByte("(,"[min(i, 1)])
			p.write(b, e, a, syntax.ArgumentPriority, depth-1)
		}
		b.WriteByte(')')
	}
}

// step notes a step of the plan.
func (p *planner) step(e *bindings, t template, access string, class verdict.Class) *stepInfo {
	s := verdict.Step{Goal: p.text(e, t), Access: access, Class: class, Depth: p.depth}
	if p.triggered && (class == verdict.Tree || class == verdict.Directory) {
		s.Warning = fmt.Sprintf("for each row before it, this goes through %s; give it a key that is known", access)
	}
	p.steps = append(p.steps, s)
	return &stepInfo{s.Goal}
}

// finish adds the plan that has been made to those of a clause.
func (p *planner) finish(out *compiledClause) {
	plan := verdict.Plan{Rule: out.rule.Name, Source: out.source, Steps: slices.Clone(p.steps)}
	for _, s := range plan.Steps {
		if strings.HasPrefix(s.Goal, "change(") && s.Depth == 0 {
			plan.Trigger = s.Goal
			break
		}
	}
	out.explains = append(out.explains, plan)
}

// kill notes the goal that can never be true.
func (p *planner) kill(e *bindings, t template) []op {
	if p.dead == "" {
		p.dead = p.text(e, t)
	}
	return []op{failOp}
}

// plan makes the ops of a conjunction and of what follows it.
func (p *planner) plan(goals []goal, e *bindings, needed []template, done doneFunc) ([]op, error) {
	goals, _, err := p.flatten(goals, e)
	if err != nil {
		return nil, err
	}
	list := p.analyse(goals, e, needed)
	var ops []op
	for len(list) > 0 {
		i, err := p.choose(list, e)
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
		if err := p.emit(g, e, rest, needed, done, &r); err != nil {
			return nil, err
		}
		if r.dead {
			return slices.Concat(ops, r.ops, p.kill(e, g.t)), nil // what comes before may err, and so may what the goal itself computes
		}
		ops = append(ops, r.ops...)
		if r.query != nil {
			list = p.joinQueries(r.query, g.t, list, e)
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

// takeTriggers tells the changes that start the plan whether their records come part by part, and returns the lists
// of these. Where a path does not begin with a change, the plan is run once, and goes through whole lists.
func (p *planner) takeTriggers() (starts []int) {
	m := p.machine
	for _, g := range p.triggers {
		if g.isTrigger = !p.lone; g.isTrigger {
			g.starting = m.triggers.declare(g.spec)
			starts = append(starts, g.starting)
		} else {
			g.list = m.lists.whole.declare(g.spec)
		}
	}
	return starts
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
