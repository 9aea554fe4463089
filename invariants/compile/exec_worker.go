package compile

import (
	"context"
	"iter"
	"time"

	"fsward/change"
	"fsward/invariants/ruleset"
	"fsward/invariants/verdict"
)

// A worker is a machine that runs the programs of all rules. Two workers judge a large transaction
// at once, each a part of its records. They share the lists and indexes of records, and no other
// state that changes. See docs/decisions/0022.
type worker struct {
	order   int               // 0 or 1
	own     []*compiledClause // all clauses, with what this worker has spent
	clauses []*compiledClause // the clauses that it judges
	all     bool              // its lists are those of all clauses, for a transaction in memory
	timing  []verdict.Timing  // of all rules
	watch   []verdict.Timing  // timing while two workers judge
	machine *machine
	report  *verdict.Report
}

func newWorker(order int, p *programs, options ruleset.Options, lists *recordLists) *worker {
	h := &worker{order: order, machine: newMachine(&p.layout, options, lists), own: p.judged(),
		watch: make([]verdict.Timing, len(p.set.Rules))}
	h.report = verdict.NewReport(p.set.Vocabulary, p.set.Rules, options.MaxViolations)
	return h
}

// parallelFrom is the number of records from which two workers judge. A smaller commit is judged
// within a millisecond or two, which leaves the other processor to the guest.
const parallelFrom = 1 << 11

// judgeCompiled judges a transaction by the compiled rules.
func (e *Engine) judgeCompiled(ctx context.Context, t *change.Txn, v change.View) {
	from := e.reference.Options.ParallelFrom
	if from == 0 {
		from = parallelFrom
	}
	forker, ok := v.(change.Forker)
	ok = ok && len(t.Records) >= from && e.reference.Options.Progress == nil &&
		e.make(maxWorkers) == nil // the programs have no mistakes
	e.lists.begin(t.Records)
	defer e.lists.end()
	if ok {
		e.lists.fillParallel()
		before := t.Work.Mark()
		if e.both(ctx, t, forker, before) {
			return
		}
		t.Work.Rewind(before)
	}
	h := e.workers[0]
	h.takeAll(e.clauses)
	h.check(ctx, t, v, e.timing)
}

// takeAll selects all clauses, for a transaction in memory.
func (w *worker) takeAll(clauses []*compiledClause) {
	if !w.all {
		w.take(clauses, (*compiledPlan).startLists)
		w.all = true
	}
	w.clauses = clauses
}

// take selects the clauses to judge; starts returns the lists whose records start a plan.
func (w *worker) take(clauses []*compiledClause, starts func(*compiledPlan) []int) {
	w.clauses, w.all = clauses, false
	needed := make([]bool, len(w.machine.triggers.table.specs))
	for _, c := range clauses {
		for i := range c.plans {
			for _, list := range starts(&c.plans[i]) {
				needed[list] = true
			}
		}
	}
	w.machine.triggers.use(needed)
}

// check judges a transaction by one worker alone.
func (w *worker) check(ctx context.Context, t *change.Txn, v change.View, timing []verdict.Timing) {
	w.timing = timing
	w.report.Open(t)
	w.machine.begin(ctx, t, v, w.report)
	w.judge(w.clauses, w.batches)
	for _, c := range w.clauses {
		if isMistake(c.err) && !c.interpret {
			w.judgeAgain(c.rule)
		}
	}
	w.machine.end()
}

// batchSize is the number of records that all rules judge before they continue with the next batch.
// It is small enough that the records, and what is looked up for them, stay in the processor's
// caches. See docs/decisions/0009.
const batchSize = 1024

// batches yields the batches of the transaction, as the first record and the one after the last.
func (w *worker) batches(yield func([2]int) bool) {
	m := w.machine
	for from := 0; from < len(m.records); from += batchSize {
		if m.options.Progress != nil {
			m.options.Progress(from, len(m.records))
		}
		if !yield([2]int{from, min(from+batchSize, len(m.records))}) {
			return
		}
	}
}

// judge runs the programs of clauses on one batch after the other.
func (w *worker) judge(clauses []*compiledClause, parts iter.Seq[[2]int]) {
	m := w.machine
	for _, c := range clauses {
		c.rows, c.err = 0, nil
	}
	watch := time.Now()
	took := time.Duration(0)
	run := func(c *compiledClause, plan *compiledPlan) {
		m.run(c, plan)
		now := time.Since(watch)
		w.timing[c.rule.Order].Add(now - took)
		took = now
	}
	for part := range parts {
		m.triggers.fill(m.records, part[0], part[1])
		took = time.Since(watch)
		for _, c := range clauses {
			for i := 0; !c.interpret && i < len(c.plans) && c.err == nil; i++ {
				if plan := &c.plans[i]; m.triggers.hasAny(plan.starts) {
					run(c, plan)
				}
			}
		}
		m.work.Judged(part[1] - part[0])
	}
	if w.order > 0 || m.queue != nil && m.queue.stopped.Load() {
		return // the first worker runs the plans that run once
	}
	took = time.Since(watch)
	for _, c := range clauses {
		for i := 0; !c.interpret && i < len(c.plans) && c.err == nil; i++ {
			if plan := &c.plans[i]; len(plan.starts) == 0 {
				run(c, plan)
			}
		}
	}
}

// judgeAgain judges a rule without the clauses that met a mistake, which the reference engine will
// interpret. It removes what they found so far.
func (w *worker) judgeAgain(rule *ruleset.LoadedRule) {
	for again := true; again; {
		again = false
		var sound []*compiledClause
		for _, c := range w.clauses {
			switch {
			case c.rule != rule:
			case isMistake(c.err) && !c.interpret:
				c.interpret, again = true, true
			case !c.interpret:
				sound = append(sound, c)
			}
		}
		if again {
			w.report.Forget(rule)
			w.judge(sound, w.batches)
		}
	}
}
