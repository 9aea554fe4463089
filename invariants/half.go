package invariants

import (
	"context"
	"slices"
	"sync"
	"time"

	"fsward/change"
)

// A half is about half of the rules, or all where they are few, with the machine that runs them: what two goroutines judge at
// once where a transaction is large. They share nothing that changes; what they find is put together when both are done,
// so that the verdict is the same as one after the other. See docs/decisions/0022.
type half struct {
	order   int // 0 or 1
	of      int // 1 or 2
	clauses []*compiledClause
	timing  []Timing // of all rules; a half adds to those of its own
	machine *machine
	run     run // what the report needs of one
	report  *report
}

func newHalf(order int, r *reference, l *loader) *half {
	h := &half{order: order, of: halvesOf(l.rules, r.options), machine: newMachine(l.vocabulary, r.options)}
	h.run.vocabulary = l.vocabulary
	h.report = newReport(&h.run, l.rules, r.options.MaxViolations)
	return h
}

// parallelFrom is the number of records from which the halves are judged at once. What both look up costs twice, so
// that a small commit, whose verdict is there within a millisecond or two, is left to one processor and the other to the guest.
const parallelFrom = 1 << 11

// manyRules is the number of rules from which there are two halves. With fewer, most of the work is going through the
// records, which each half does.
const manyRules = 16

// halvesOf returns into how many halves rules are divided.
func halvesOf(rules []*rule, options Options) int {
	if len(rules) < manyRules && options.parallelFrom == 0 {
		return 1
	}
	return 2
}

// divide deals rules to halves, the one that most changes start first, each to the half that fewer start so far. It
// returns the half of each rule.
func divide(l *loader, halves int, options Options) []int {
	counting := newCompiler(l, newMachine(l.vocabulary, options), &mistakes{reported: map[string]bool{}})
	starts, rules := make([]int, len(l.rules)), make([]int, len(l.rules))
	for i, rule := range l.rules {
		rules[i] = i
		for _, clause := range rule.clauses {
			starts[i] += len(counting.compile(rule, clause).plans)
		}
	}
	slices.SortStableFunc(rules, func(i, j int) int { return starts[j] - starts[i] })
	of, load := make([]int, len(rules)), make([]int, halves)
	for _, i := range rules {
		of[i] = slices.Index(load, slices.Min(load))
		load[of[i]] += starts[i]
	}
	return of
}

// judgeHalves judges a transaction by the rules that are compiled.
func (e *Compiled) judgeHalves(ctx context.Context, t *change.Txn, v change.View) {
	from := e.reference.options.parallelFrom
	if from == 0 {
		from = parallelFrom
	}
	forker, ok := v.(change.Forker)
	if !ok || len(e.halves) == 1 || len(t.Records) < from || e.reference.options.Progress != nil {
		for _, h := range e.halves {
			h.check(ctx, t, v, e.timing)
		}
		return
	}
	var wg sync.WaitGroup
	for _, h := range e.halves {
		fork := *t
		fork.Names = t.Names.Fork()
		view := forker.Fork(fork.Names)
		wg.Go(func() { h.check(ctx, &fork, view, e.timing) })
	}
	wg.Wait()
}

// check judges a transaction by the rules of a half.
func (h *half) check(ctx context.Context, t *change.Txn, v change.View, timing []Timing) {
	h.timing, h.run.txn, h.run.view = timing, t, v
	h.report.reset()
	h.machine.begin(ctx, t, v, h.report)
	h.judge(h.clauses)
	for _, c := range h.clauses {
		if isMistake(c.err) && !c.interpret {
			h.judgeAgain(c.rule)
		}
	}
	h.machine.end()
}

// turnSize is the number of records that all rules judge before they go on to the next: few enough that they, and
// what is looked up for them, stay in the processor's caches. See docs/decisions/0009.
const turnSize = 1024

// judge runs the programs of clauses. They take turns on parts of the transaction.
func (h *half) judge(clauses []*compiledClause) {
	m := h.machine
	for _, c := range clauses {
		c.rows, c.err = 0, nil
	}
	watch := time.Now()
	took := time.Duration(0)
	run := func(c *compiledClause, plan *compiledPlan) {
		m.run(c, plan)
		now := time.Since(watch)
		h.timing[c.rule.order].add(now - took)
		took = now
	}
	for from := 0; from < len(m.records); from += turnSize {
		if m.options.Progress != nil {
			m.options.Progress((h.order*len(m.records)+from)/h.of, len(m.records))
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
func (h *half) judgeAgain(rule *rule) {
	for again := true; again; {
		again = false
		var sound []*compiledClause
		for _, c := range h.clauses {
			switch {
			case c.rule != rule:
			case isMistake(c.err) && !c.interpret:
				c.interpret, again = true, true
			case !c.interpret:
				sound = append(sound, c)
			}
		}
		if again {
			h.report.forget(rule)
			h.judge(sound)
		}
	}
}
