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
	program *program // nil: interpreted by the reference engine
	why     string   // why it is
	plans   []Plan

	// Of the transaction that is judged:
	rows      int64
	err       error
	interpret bool // it met a mistake
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
	r.take(l)
	e := &Compiled{reference: r, machine: newMachine(l.vocabulary, r.options)}
	c := newCompiler(l, e.machine)
	for _, rule := range l.rules {
		e.timing = append(e.timing, Timing{Rule: rule.Name})
		for _, clause := range rule.clauses {
			e.clauses = append(e.clauses, c.compile(rule, clause))
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
	report := e.reference.report
	e.machine.begin(ctx, t, v, report)
	defer e.machine.end()
	for i := range e.timing {
		e.timing[i].Checks++
		e.timing[i].Last, e.timing[i].Rows = 0, 0
	}
	for _, c := range e.clauses {
		c.interpret = c.program == nil
	}
	e.judge(e.clauses)
	for _, c := range e.clauses {
		if isMistake(c.err) && !c.interpret {
			e.judgeAgain(c.rule)
		}
	}
	e.interpret()
	for _, c := range e.clauses {
		e.timing[c.rule.order].Rows += c.rows
		if c.err != nil {
			report.undecided(c.rule, c.clause, report.stopped(c.err))
		}
	}
	return report.verdict()
}

// turnSize is the number of records that all rules judge before they go on to the next: few enough that they, and
// what is looked up for them, stay in the processor's caches. See docs/decisions/0009.
const turnSize = 1024

// judge runs the programs of clauses. They take turns on parts of the transaction.
func (e *Compiled) judge(clauses []*compiledClause) {
	m := e.machine
	for _, c := range clauses {
		c.rows, c.err = 0, nil
	}
	watch := time.Now()
	took := time.Duration(0)
	run := func(c *compiledClause, plan *compiledPlan) {
		m.run(c, plan)
		now := time.Since(watch)
		e.timing[c.rule.order].add(now - took)
		took = now
	}
	for from := 0; from < len(m.records); from += turnSize {
		if m.options.Progress != nil {
			m.options.Progress(from, len(m.records))
		}
		m.lists.turn.fill(m.records, from, min(from+turnSize, len(m.records)))
		took = time.Since(watch)
		for _, c := range clauses {
			for i := 0; !c.interpret && i < len(c.program.plans) && c.err == nil; i++ {
				if plan := &c.program.plans[i]; m.lists.turn.hasAny(plan.starts) {
					run(c, plan)
				}
			}
		}
	}
	took = time.Since(watch)
	for _, c := range clauses {
		for i := 0; !c.interpret && i < len(c.program.plans) && c.err == nil; i++ {
			if plan := &c.program.plans[i]; len(plan.starts) == 0 {
				run(c, plan)
			}
		}
	}
}

// judgeAgain judges a rule without the clauses that met a mistake, which are to be interpreted: what they have
// found until then is taken back.
func (e *Compiled) judgeAgain(rule *rule) {
	for again := true; again; {
		again = false
		var sound []*compiledClause
		for _, c := range e.clauses {
			switch {
			case c.rule != rule:
			case isMistake(c.err) && !c.interpret:
				c.interpret, again = true, true
			case !c.interpret:
				sound = append(sound, c)
			}
		}
		if again {
			e.reference.report.forget(rule)
			e.judge(sound)
		}
	}
}

// interpret gives clauses to the reference engine.
func (e *Compiled) interpret() {
	var rule *rule
	for _, c := range e.clauses {
		if !c.interpret {
			continue
		}
		if c.rule != rule {
			rule, e.reference.run.steps = c.rule, 0
		}
		start := time.Now()
		c.err = e.reference.runClause(c.rule, c.clause)
		e.timing[rule.order].add(time.Since(start))
	}
}
