package compile

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"fsward/change"
	"fsward/invariants/reference"
	"fsward/invariants/ruleset"
	"fsward/invariants/syntax"
	"fsward/invariants/verdict"
)

// An Engine judges transactions by compiled rules. It gives each clause that it cannot compile to
// the reference engine. One goroutine at a time may use it.
type Engine struct {
	reference *reference.Engine
	programs  *programs
	clauses   []*compiledClause
	timing    []verdict.Timing
	workers   []*worker // those that were needed so far, at most maxWorkers
	lists     *recordLists
}

const maxWorkers = 2

// A compiledClause is a program and what a judgment has found of it.
type compiledClause struct {
	*program
	rows        int64
	err         error
	interpret   bool // it met a mistake
	partitioned bool // it asked for a partitioned sum over a stream
}

// New loads rules as reference.New does and compiles them. Besides the mistakes that reference.New
// finds, it reports those that show in the plan of a rule: a variable that has no value where a
// comparison or a negation needs it, recursion through a negation, a rule that can never find
// anything.
func New(schema *change.Schema, files []syntax.File, options ruleset.Options) (*Engine, error) {
	r, err := reference.New(schema, files, options)
	if err != nil {
		return nil, err
	}
	return newEngine(r, newPrograms(r.Set))
}

// newEngine returns an engine that runs programs. It compiles them first, if they are not and the
// options do not put it off.
func newEngine(r *reference.Engine, p *programs) (*Engine, error) {
	e := &Engine{reference: r, programs: p, clauses: p.judged()}
	for _, rule := range p.set.Rules {
		e.timing = append(e.timing, verdict.Timing{Rule: rule.Name})
	}
	if !r.Options.Late {
		if err := e.make(1); err != nil {
			return nil, err
		}
	}
	return e, nil
}

// Again returns another engine of the same rules, which shares the programs with e. The options
// cannot change what OpenVocabulary and Settings of the first engine chose. Several goroutines may
// call Again, also while one uses e.
func (e *Engine) Again(options ruleset.Options) (*Engine, error) {
	return newEngine(e.reference.Again(options), e.programs)
}

// make compiles the rules and makes the first n workers, as far as they are not there. The error
// lists the mistakes in the rules.
func (e *Engine) make(n int) error {
	if err := e.programs.compile(); err != nil {
		return err
	}
	if e.lists == nil {
		e.lists = newRecordLists(&e.programs.layout)
	}
	for len(e.workers) < n {
		e.workers = append(e.workers,
			newWorker(len(e.workers), e.programs, e.reference.Options, e.lists))
	}
	return nil
}

// Prepare compiles the rules, if ruleset.Options.Late put that off.
func (e *Engine) Prepare() { _ = e.make(1) } // Check repeats the error

// Rules describes the rules in the order of the files.
func (e *Engine) Rules() []ruleset.Rule { return e.reference.Rules() }

// Check judges a transaction by every rule. Each rule has a budget of its own. If a clause meets a
// mistake, such as a comparison of something that is not a number, the reference engine judges it
// again, so that the verdict does not depend on the order of goals: see docs/decisions/0008.
func (e *Engine) Check(ctx context.Context, t *change.Txn, v change.View) verdict.Verdict {
	end := e.reference.Begin(ctx, t, v)
	defer end()
	report := e.reference.Report
	if err := e.make(1); err != nil {
		report.Stop(err)
		return report.Verdict()
	}
	for i := range e.timing {
		e.timing[i].Checks++
		e.timing[i].Last, e.timing[i].Rows = 0, 0
	}
	for _, c := range e.clauses {
		c.interpret = c.why != ""
	}
	e.resetReports()
	t.Work.Judge(len(t.Records))
	e.judgeCompiled(ctx, t, v)
	for _, h := range e.workers {
		report.Take(h.report)
		h.report.Close()
	}
	e.interpret()
	e.conclude(t.Work)
	return report.Verdict()
}

// conclude adds the undecided clauses to the report: those that met an error, and all if the work
// of the judgment is used up.
func (e *Engine) conclude(work *change.Work) {
	report := e.reference.Report
	for _, c := range e.clauses {
		e.timing[c.rule.Order].Rows += c.rows
		err := c.err
		if _, slow := errors.AsType[budgetError](err); slow {
			err = fmt.Errorf("%w; it took %s", err, e.timing[c.rule.Order].Last.Round(time.Millisecond))
		}
		if _, all := errors.AsType[*change.WorkError](err); !all && err != nil {
			report.Undecided(c.rule, c.clause, report.Stopped(err))
		}
	}
	if err := work.Err(); err != nil {
		report.Stop(e.exhausted(err))
	}
}

// exhausted adds the rule that took the most steps to the error of a judgment that took too many.
func (e *Engine) exhausted(err error) error {
	if len(e.timing) == 0 {
		return err
	}
	most := slices.MaxFunc(e.timing, func(a, b verdict.Timing) int {
		return cmp.Compare(a.Rows, b.Rows)
	})
	return fmt.Errorf("%w; %s took %d and %s", err, most.Rule, most.Rows,
		most.Last.Round(time.Millisecond))
}

func (e *Engine) resetReports() {
	for _, h := range e.workers {
		h.report.Reset()
	}
}

// interpret gives clauses to the reference engine.
func (e *Engine) interpret() {
	var rule *ruleset.LoadedRule
	for _, c := range e.clauses {
		if !c.interpret {
			continue
		}
		if c.rule != rule {
			rule = c.rule
			e.reference.StartRule()
		}
		start := time.Now()
		c.err = e.reference.RunClause(c.rule, c.clause)
		e.timing[rule.Order].Add(time.Since(start))
	}
}

// Explain returns the plans of a rule, by its name ("btrfs/17") or its number ("17").
func (e *Engine) Explain(rule string) ([]verdict.Plan, error) {
	if err := e.programs.compile(); err != nil {
		return nil, err
	}
	var plans []verdict.Plan
	known := false
	for _, c := range e.clauses {
		if c.rule.Name != rule && syntax.TermText(c.rule.Number, nil) != rule &&
			c.rule.Name != ruleset.SitePrefix+rule {
			continue
		}
		known = true
		plans = append(plans, c.explains...)
	}
	if !known {
		return nil, fmt.Errorf("there is no rule %s", rule)
	}
	return plans, nil
}

// Plans returns the plans of all rules, by the names of the rules.
func (e *Engine) Plans() (map[string][]verdict.Plan, error) {
	if err := e.programs.compile(); err != nil {
		return nil, err
	}
	plans := map[string][]verdict.Plan{}
	for _, c := range e.clauses {
		plans[c.rule.Name] = append(plans[c.rule.Name], c.explains...)
	}
	return plans, nil
}

// Timing returns the cost of each rule, in the order of Rules.
func (e *Engine) Timing() []verdict.Timing {
	return append([]verdict.Timing(nil), e.timing...)
}

// Fallbacks returns the clauses that cannot be compiled, in the order of the files.
func (e *Engine) Fallbacks() []verdict.Fallback {
	e.Prepare()
	var list []verdict.Fallback
	for _, c := range e.clauses {
		if c.why != "" {
			list = append(list, verdict.Fallback{Rule: c.rule.Name, Source: c.source, Why: c.why})
		}
	}
	return list
}
