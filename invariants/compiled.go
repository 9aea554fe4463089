package invariants

import (
	"context"
	"time"

	"fsward/change"
)

// Compiled is the Engine that compiles each rule to a join plan. What it cannot compile it gives to the
// reference engine, clause by clause. It is used by one goroutine at a time.
type Compiled struct {
	reference *reference
	clauses   []*compiledClause
	timing    []Timing
	machine   *machine
}

// compiledClause is a clause of a rule with its program.
type compiledClause struct {
	rule    *rule
	clause  ruleClause
	source  string
	order   int      // of the rule in Rules
	program *program // nil: interpreted by the reference engine
	why     string   // why it is
	plans   []Plan
}

// NewCompiled loads rules as NewReference does and compiles them. Besides the mistakes that NewReference
// finds, it reports those that show in the plan of a rule: a variable that has no value where a comparison
// or a negation needs it, recursion through a negation, a rule that can never find anything.
func NewCompiled(schema *change.Schema, files []File, options Options) (*Compiled, error) {
	r := &reference{options: options.withDefaults()}
	l := newLoader(schema, r.run.builtins(), options.OpenVocabulary)
	if err := l.load(files); err != nil {
		return nil, err
	}
	r.rules = l.rules
	r.run.vm, r.run.vocabulary = l.vm, l.vocabulary
	e := &Compiled{reference: r, machine: newMachine(l.vocabulary, r.options)}
	c := newCompiler(l, e.machine)
	for i, rule := range l.rules {
		e.timing = append(e.timing, Timing{Rule: rule.Name})
		for _, clause := range rule.clauses {
			e.clauses = append(e.clauses, c.compile(rule, clause, i))
		}
	}
	if err := c.mistakes(); err != nil {
		return nil, err
	}
	return e, nil
}

// Rules describes the rules in the order of the files.
func (e *Compiled) Rules() []Rule { return e.reference.Rules() }

// Check judges a transaction by every rule. What a rule spends does not take from the next. A clause that
// meets a mistake, such as a comparison of what is no number, is judged again by the reference engine, so
// that what is reported does not depend on the order of goals: see docs/decisions/0008.
func (e *Compiled) Check(ctx context.Context, t *change.Txn, v change.View) Verdict {
	end := e.reference.begin(ctx, t, v)
	defer end()
	m := e.machine
	m.begin(ctx, t, v)
	defer m.end()
	report := newReport(&e.reference.run, e.reference.options.MaxViolations)
	for i := range e.timing {
		e.timing[i].Checks++
		e.timing[i].Last, e.timing[i].Rows = 0, 0
	}
	current := -1
	for _, c := range e.clauses {
		start := time.Now()
		if c.order != current {
			current = c.order
			e.reference.run.steps = 0
		}
		if err := e.runClause(c, report); err != nil {
			report.undecided(c.rule, c.clause, err)
		}
		took := time.Since(start)
		timing := &e.timing[c.order]
		timing.Last += took
		timing.Total += took
		timing.Rows += m.rows
	}
	return report.verdict()
}

// runClause runs the program of a clause, or the clause itself in the reference engine.
func (e *Compiled) runClause(c *compiledClause, report *report) error {
	m := e.machine
	m.rows = 0
	if c.program == nil {
		return e.reference.runClause(c.rule, c.clause, report)
	}
	mark := report.mark()
	err := m.run(c, report)
	if !isMistake(err) {
		return err
	}
	report.undo(mark)
	return e.reference.runClause(c.rule, c.clause, report)
}
