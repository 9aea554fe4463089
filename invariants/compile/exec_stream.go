package compile

import (
	"context"
	"errors"
	"slices"
	"time"

	"fsward/change"
	"fsward/invariants/reference"
	"fsward/invariants/verdict"
)

// A whole file system is judged as a transaction in which everything is new. If it has too many
// records for memory, they come part by part, twice. The first time, the sums over all of it are
// added up. The second time, the records of each part start rules. If a goal names the object of a
// change, the state answers it: since everything is new, change(T, ID, F, null, V) and query(T, ID,
// F, V) mean the same. See docs/decisions/0027.

// streaming is the state of a machine that judges a stream.
type streaming struct {
	of         change.Stream
	finder     change.Finder     // nil if everything is new
	trees      change.TreeFinder // nil, or finder if only some trees are compared
	emptied    uint64            // Names.Emptied() at the last interning of literals
	summing    bool              // the stream comes for the first time
	sums       *aggBudget
	partitions uint64 // the most partitions of a table that gave the current record a sum
	held       heldRecords
	// the changed objects of one id by the values of a field: see changeGoal.find
	byOld, byNew foundIndex
}

// A streamError says that a rule needs changes that only a transaction in memory can provide.
type streamError struct{ text string }

func (e streamError) Error() string {
	return e.text + " cannot be judged in a file system that is too large " +
		"to be held in memory as one transaction"
}

// CheckStream judges a whole file system.
func (e *Engine) CheckStream(ctx context.Context, s change.Stream, v change.View,
	memory uint64) verdict.Verdict {
	t := &change.Txn{Schema: e.reference.Set.Vocabulary.Schema, Names: s.Names()}
	commit, isCommit := s.(change.Finder)
	if _, t.Whole = s.(change.TreeFinder); isCommit {
		t.Work = commit.Work()
	} else {
		t.Whole = true
	}
	end := e.reference.Begin(ctx, t, v)
	defer end()
	if err := e.make(1); err != nil {
		e.reference.Report.Stop(err)
		return e.reference.Report.Verdict()
	}
	for i := range e.timing {
		e.timing[i].Checks++
		e.timing[i].Last, e.timing[i].Rows = 0, 0
	}
	h := e.workers[0]
	h.take(e.clauses, (*compiledPlan).partLists)
	e.resetReports()
	sums := &aggBudget{free: memory}
	h.beginStream(ctx, t, v, s, sums)
	h.timing = e.timing
	err := h.rounds(ctx, s, t, sums)
	report := e.reference.Report
	h.endStream()
	report.Take(h.report)
	if err != nil {
		report.Stop(err)
	}
	e.conclude(t.Work)
	out := report.Verdict()
	report.Show(out)
	return out
}

// rounds goes through a stream twice, and twice more for each further partition of the sums.
func (w *worker) rounds(ctx context.Context, s change.Stream, t *change.Txn,
	sums *aggBudget) error {
	done, rounds := 0, uint64(1)
	report := w.machine.options.Progress
	if report == nil {
		report = w.machine.options.StreamProgress
	}
	progress := func(part *change.Txn) error {
		if done += len(part.Records); report != nil {
			report(done, 2*int(rounds)*s.Len())
		}
		return ctx.Err()
	}
	for round := uint64(0); round < rounds; round++ {
		sums.begin(round)
		t.Work.Judge(s.Len())
		if w.machine.streaming.summing = true; round > 0 && t.Work == nil {
			w.machine.maxRows += w.machine.options.StepsPerRecord * int64(s.Len())
		}
		err := s.Each(func(part *change.Txn) error {
			w.sumUp(part)
			if round == 0 {
				rounds = sums.rounds()
			}
			return progress(part)
		})
		if err != nil {
			return err
		}
		w.machine.streaming.summing = false
		w.machine.lists.begin(w.machine.streaming.held.records)
		err = s.Each(func(part *change.Txn) error {
			w.judgePart(part)
			t.Work.Judged(len(part.Records))
			return progress(part)
		})
		if err != nil {
			return err
		}
		w.machine.records = nil
		w.runPlans(func(plan *compiledPlan) bool { return len(plan.parts) == 0 })
		w.report.EndPart(t)
		// A rule that needed no partitioned sum is done.
		if !slices.ContainsFunc(w.clauses, func(c *compiledClause) bool { return c.partitioned }) {
			return nil
		}
	}
	return nil
}

// passesPerRecord bounds the rows that a rule may take for one record of a file system, in passes
// over the whole file system.
const passesPerRecord = 4

func (w *worker) beginStream(ctx context.Context, t *change.Txn, v change.View, s change.Stream,
	sums *aggBudget) {
	w.report.Open(t)
	m := w.machine
	m.begin(ctx, t, v, w.report)
	if t.Work == nil {
		m.maxRows = m.options.Steps + m.options.StepsPerRecord*int64(s.Len())
		// A sum over one object, such as the names of a directory, is added up for one record.
		m.perRecord = max(m.perRecord, passesPerRecord*int64(s.Len()))
	}
	finder, _ := s.(change.Finder)
	trees, _ := s.(change.TreeFinder)
	m.streaming = &streaming{of: s, finder: finder, trees: trees, sums: sums,
		emptied: s.Names().Emptied(), partitions: 1, held: newHeldRecords(m.vocabulary, m.lists),
		byOld: foundIndex{reverseIndex: newReverseIndex(m.lists.Seeds)},
		byNew: foundIndex{reverseIndex: newReverseIndex(m.lists.Seeds)}}
	for _, t := range m.aggregates.tables {
		t.limit = maxStateSums
	}
	for i := range m.aggregates.passes {
		table := m.aggregates.tables[m.aggregates.passes[i].sum.table]
		table.budget, table.partitions = sums, 1
		sums.tables = append(sums.tables, table)
	}
	for _, c := range w.clauses {
		c.rows, c.err, c.partitioned = 0, nil, false
		if c.why != "" {
			c.err = streamError{"a clause that only the reference engine can judge (" + c.why + ")"}
		}
	}
}

func (w *worker) endStream() {
	m := w.machine
	m.streaming = nil
	for _, t := range m.aggregates.tables {
		*t = sumTable{Seeds: t.Seeds, eager: t.eager, width: t.width}
	}
	m.end()
	m.lists.end()
}

// next takes a part. It discards the values that refer to names that are no longer valid.
func (m *machine) next(part *change.Txn) {
	m.records = part.Records
	s := m.streaming
	if len(m.memo.words) > maxStreamMemo {
		m.memo.reset()
	}
	if len(m.answers.words) > maxStreamAnswers {
		m.answers.reset()
	}
	if len(m.reverse.entries) > reference.MaxReverse/2 {
		m.reverse.reset()
	}
	if len(s.byOld.entries)+len(s.byNew.entries) > maxFoundIndex/2 {
		s.byOld.reset()
		s.byNew.reset()
	}
	if n := part.Names.Emptied(); n != s.emptied {
		s.emptied = n
		m.interner.forget()
		m.interner.begin(part.Names)
		m.memo.reset()
		m.answers.reset()
		m.reverse.reset()
		s.byOld.reset()
		s.byNew.reset()
	}
}

// maxStreamMemo bounds the words of proofs that are kept from one part to the next; objects that
// are near each other come in sequence.
const maxStreamMemo = 1 << 18

// maxStreamAnswers is the same for the answers of helpers, which are about objects far away.
const maxStreamAnswers = 1 << 22

// sumUp adds a part to the sums over the whole, and keeps the records that goals look up otherwise.
func (w *worker) sumUp(part *change.Txn) {
	m := w.machine
	m.next(part)
	m.lists.begin(part.Records)
	first := m.streaming.sums.round == 0
	if first {
		m.streaming.held.take(m.lists)
	}
	for i := range m.aggregates.passes {
		p := &m.aggregates.passes[i]
		table := m.aggregates.tables[p.sum.table]
		if table.unfit || !first && table.partitions == 1 {
			continue
		}
		m.err, m.rows, m.recordRows, m.checkAt, m.depth, m.trigger = nil, 0, 0, 0, 0, -1
		m.charged = 0
		m.stack = m.stack[:0]
		m.frame = m.push(p.registers, nil, nil)
		m.r = m.frame.registers
		p.sum.pass(m)
		m.free(m.frame)
		if table.built = true; m.err != nil {
			table.unfit, table.why = true, m.err
		}
	}
}

// judgePart runs the rules that the records of a part start.
func (w *worker) judgePart(part *change.Txn) {
	m := w.machine
	m.next(part)
	for from := 0; from < len(m.records); from += batchSize {
		m.triggers.fill(m.records, from, min(from+batchSize, len(m.records)))
		w.runPlans(func(plan *compiledPlan) bool { return m.triggers.hasAny(plan.parts) })
	}
	w.report.EndPart(part)
}

// runPlans runs the plans for which wanted returns true.
func (w *worker) runPlans(wanted func(*compiledPlan) bool) {
	watch := time.Now()
	took := time.Duration(0)
	for _, c := range w.clauses {
		for i := 0; c.err == nil && i < len(c.plans); i++ {
			plan := &c.plans[i]
			if !wanted(plan) || w.machine.streaming.sums.round > 0 && !c.partitioned {
				continue
			}
			w.machine.run(c, plan)
			if isMistake(c.err) {
				c.err = errors.Join(streamError{"a mistake that the reference engine would name"}, c.err)
			}
			now := time.Since(watch)
			w.timing[c.rule.Order].Add(now - took)
			took = now
		}
	}
}
