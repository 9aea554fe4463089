package compile

import (
	"errors"
	"fmt"
	"strings"

	"github.com/ichiban/prolog/engine"

	"fsward/invariants/ruleset"
	"fsward/invariants/syntax"
	"fsward/invariants/verdict"
)

type compiledPlan struct {
	registers int
	first     step
	starts    []int // lists of the records that start it; if empty, it runs once per transaction
	parts     []int // starts for a stream
}

func (p *compiledPlan) startLists() []int { return p.starts }
func (p *compiledPlan) partLists() []int  { return p.parts }

// unsupported says why a clause cannot be compiled.
type unsupported struct{ text string }

func (e unsupported) Error() string { return e.text }

func unsupportedf(format string, args ...any) error {
	return unsupported{fmt.Sprintf(format, args...)}
}

// A compiler compiles the clauses of a set of rules.
type compiler struct {
	set        *ruleset.Set
	layout     *layout
	predicates map[syntax.Indicator][]*clauseTemplate
	rules      map[ruleLine][]*clauseTemplate
	recursive  map[syntax.Indicator]bool
	tables     map[syntax.Indicator]*factTable // nil: the helper is not a table
	procedures map[string]*procedureEntry
	properties map[string]uint64 // numbers of verify/1 goals, of sums and of procedures
	mistakes   *mistakes
}

// A ruleLine is the place of the clauses of a rule on one line: they are one goal and one program.
type ruleLine struct {
	number engine.Term
	source string
}

// mistakes collects the mistakes of a set of rules, each once.
type mistakes struct {
	errs     []error
	reported map[string]bool
}

func newCompiler(l *ruleset.Set, needed *layout) *compiler {
	c := &compiler{set: l, layout: needed, predicates: map[syntax.Indicator][]*clauseTemplate{},
		rules: map[ruleLine][]*clauseTemplate{}, procedures: map[string]*procedureEntry{},
		tables: map[syntax.Indicator]*factTable{}, properties: map[string]uint64{},
		mistakes: &mistakes{reported: map[string]bool{}}}
	for i := range l.Clauses {
		clause := newClauseTemplate(needed.interner, &l.Clauses[i])
		if p, ok := syntax.IndicatorOf(clause.Head); ok && p.Name != syntax.AtomViolation {
			c.predicates[p] = append(c.predicates[p], clause)
		} else if ok {
			at := ruleLine{clause.Head.(engine.Compound).Arg(0),
				fmt.Sprintf("%s:%d", clause.Text.File, clause.Text.Line)}
			c.rules[at] = append(c.rules[at], clause)
		}
	}
	c.recursive = c.findRecursion()
	return c
}

func (f *mistakes) err() error {
	if len(f.errs) > syntax.MaxLoadErrors {
		f.errs = append(f.errs[:syntax.MaxLoadErrors], errors.New("and more"))
	}
	return errors.Join(f.errs...)
}

// mistake reports a mistake once, however many plans it is found in.
func (c *compiler) mistake(at *syntax.ClauseText, format string, args ...any) {
	err := at.Errorf(format, args...)
	if f := c.mistakes; !f.reported[err.Error()] {
		f.reported[err.Error()] = true
		f.errs = append(f.errs, err)
	}
}

// compile compiles a clause of a rule.
func (c *compiler) compile(out *program) {
	r, clause := out.rule, out.clause
	var plans []compiledPlan
	for _, parsed := range c.rules[ruleLine{r.Number, clause.Source}] {
		plan, err := c.violation(out, parsed)
		if err != nil {
			out.why = err.Error()
			out.explains = []verdict.Plan{{Rule: r.Name, Source: clause.Source, Reference: out.why}}
			return
		}
		plans = append(plans, plan)
	}
	out.plans = plans
}

// violation compiles violation(NUMBER, TREE, ID) :- BODY.
func (c *compiler) violation(out *program,
	parsed *clauseTemplate) (plan compiledPlan, err error) {
	e := &bindings{}
	n := parsed.instance(e)
	head, body := n.head().(compoundTemplate), n.body()
	tree, id := head.args[1], head.args[2]
	p := newPlanner(c, &parsed.Text, mode{top: true})
	why := c.contradiction(parsed)
	if why != "" && !c.set.Open {
		c.mistake(&parsed.Text, "this clause can never find anything: %s", why)
	}
	alive := false
	ops, err := p.plan([]goal{{body, &parsed.Text}}, e, []template{tree, id},
		func(e *bindings) ([]op, error) {
			alive = true
			p.starts.endPath()
			p.finish(out)
			return []op{violationOp(e.resolve(tree), e.resolve(id))}, nil
		})
	if err != nil {
		return plan, err
	}
	if !alive && why == "" && !c.set.Open {
		c.mistake(&parsed.Text, "this clause can never find anything: %s is never true", p.explain.dead)
	}
	return compiledPlan{p.registers.count, sequence(ops, func(*machine) bool { return false }),
		p.starts.takeTriggers(), p.starts.takeParts()}, nil
}

// contradiction says why the goals of a clause can never be true together, although each goal can;
// "" if they may be. Such a clause still runs, because it may be undecided.
func (c *compiler) contradiction(parsed *clauseTemplate) string {
	e := &bindings{}
	n := parsed.instance(e)
	body := n.body()
	p := newPlanner(c, &parsed.Text, mode{})
	goals, alive, err := p.inliner.flatten([]goal{{body, &parsed.Text}}, e)
	if err != nil || !alive {
		return ""
	}
	return p.contradictions.unsatisfiable(goals, e)
}

// property returns the number of a goal of verify/1 or of a sum. Goals that differ only in the
// registers of their variables have one number, so that a rule can use the proof of another.
func (c *compiler) property(t template) uint64 {
	var b strings.Builder
	seen, variables := map[int]int{}, map[variable]int{}
	var write func(t template)
	write = func(t template) {
		switch t := t.(type) {
		case constant:
			fmt.Fprintf(&b, "c%d:%d ", t.tag, t.n)
		case register:
			if _, again := seen[t.index]; !again {
				seen[t.index] = len(seen)
			}
			fmt.Fprintf(&b, "r%d:%v ", seen[t.index], t.typ == typeWord)
		case variable:
			if _, again := variables[t]; !again {
				variables[t] = len(variables)
			}
			fmt.Fprintf(&b, "v%d ", variables[t])
		case compoundTemplate:
			fmt.Fprintf(&b, "f%d/%d ", t.functor, len(t.args))
			for _, a := range t.args {
				write(a)
			}
		}
	}
	write(t)
	return c.number(b.String())
}

// number returns the number of a text, by which the memo knows a property or a procedure.
func (c *compiler) number(text string) uint64 {
	n, ok := c.properties[text]
	if !ok {
		n = uint64(len(c.properties))
		c.properties[text] = n
	}
	return n
}

// defines reports whether rule text defines a predicate.
func (c *compiler) defines(p syntax.Indicator) bool { return c.predicates[p] != nil }

// An edge is a call from one predicate to another.
type edge struct {
	to       syntax.Indicator
	negative bool
	at       *syntax.ClauseText
}

// findRecursion returns the predicates that call themselves, directly or not. It reports those that
// do so through a negation, because their meaning is undefined.
func (c *compiler) findRecursion() map[syntax.Indicator]bool {
	edges := map[syntax.Indicator][]edge{}
	for p, clauses := range c.predicates {
		for _, clause := range clauses {
			c.calls(clause.Body, false, func(to syntax.Indicator, negative bool) {
				edges[p] = append(edges[p], edge{to, negative, &clause.Text})
			})
		}
	}
	reach := map[syntax.Indicator]map[syntax.Indicator]bool{}
	for p := range edges {
		seen := map[syntax.Indicator]bool{}
		var visit func(syntax.Indicator)
		visit = func(q syntax.Indicator) {
			for _, e := range edges[q] {
				if !seen[e.to] {
					seen[e.to] = true
					visit(e.to)
				}
			}
		}
		visit(p)
		reach[p] = seen
	}
	recursive := map[syntax.Indicator]bool{}
	for p, seen := range reach {
		if !seen[p] {
			continue
		}
		recursive[p] = true
		for _, e := range edges[p] {
			if e.negative && (e.to == p || reach[e.to][p]) {
				c.mistake(e.at, "%s calls itself through a negation or an aggregate; "+
					"split it into predicates that do not", p)
			}
		}
	}
	return recursive
}

// calls calls f for each predicate of rule text that a goal calls.
func (c *compiler) calls(goal engine.Term, negative bool,
	f func(p syntax.Indicator, negative bool)) {
	p, ok := syntax.IndicatorOf(goal)
	if !ok {
		return
	}
	if _, defined := c.predicates[p]; defined {
		f(p, negative)
	}
	goals := ruleset.Builtins[p]
	if ruleset.PreludeGoals[p] != nil {
		goals = ruleset.PreludeGoals[p]
	}
	for i, g := range goals {
		plain := p == predAnd || p == predOr || p == predCall1 ||
			p == predOnce || p == predThen && i == 1
		inner := negative || !plain
		arg := goal.(engine.Compound).Arg(g.Arg)
		if q, isGoal := syntax.IndicatorOf(arg); isGoal && g.More > 0 {
			f(syntax.Indicator{Name: q.Name, Arity: q.Arity + g.More}, inner)
			continue
		}
		c.calls(arg, inner, f)
	}
}
