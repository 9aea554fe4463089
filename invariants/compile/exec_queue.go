package compile

import (
	"context"
	"sync"
	"sync/atomic"

	"fsward/change"
)

// A workQueue hands out the records of a transaction from both ends until none are left. So both
// workers finish at the same time, whatever each record costs.
type workQueue struct {
	mu       sync.Mutex
	from, to int             // the records that no worker has taken
	step     int             // number of records taken at a time
	stopped  atomic.Bool     // the workers can stop
	before   change.WorkMark // the work of the judgment when they began
}

// A step is long enough that starting each rule costs little in comparison, and that records which
// need the same objects are judged together. It is short enough that neither worker waits long for
// the other in the end.
const (
	minStep = 1 << 8
	maxStep = 1 << 14
)

func newWorkQueue(records int, before change.WorkMark) *workQueue {
	return &workQueue{to: records, before: before, step: min(max(records/16, minStep), maxStep)}
}

// next takes a part from the beginning, or from the end.
func (e *workQueue) next(atEnd bool) (from, to int) {
	e.mu.Lock()
	defer e.mu.Unlock()
	n := min(e.step, e.to-e.from)
	if atEnd {
		e.to -= n
		return e.to, e.to + n
	}
	e.from += n
	return e.from - n, e.from
}

// batches yields the batches of the parts that one worker takes.
func (e *workQueue) batches(atEnd bool) func(func([2]int) bool) {
	return func(yield func([2]int) bool) {
		for !e.stopped.Load() {
			from, end := e.next(atEnd)
			if from == end {
				return
			}
			for ; from < end; from += batchSize {
				if !yield([2]int{from, min(from+batchSize, end)}) {
					return
				}
			}
		}
	}
}

// cautious divides the budgets of rules while two workers judge. Each worker then spends less than
// a quarter of a budget, so that one worker alone, which proves nothing twice, is sure to stay
// within it. Both together spend less than half of the work of the judgment.
const cautious = 4

// both judges a transaction by both workers and reports true if it holds. In any other case it
// discards everything, and one worker has to judge the transaction from the beginning. So the
// verdict does not depend on who judged what.
func (e *Engine) both(ctx context.Context, t *change.Txn, v change.Forker,
	before change.WorkMark) (holds bool) {
	parts := newWorkQueue(len(t.Records), before)
	var wg sync.WaitGroup
	for i, h := range e.workers {
		fork := *t
		fork.Names = t.Names.Fork()
		view := v.Fork(fork.Names)
		h.takeAll(h.own)
		wg.Go(func() { h.judgeEnd(ctx, &fork, view, parts, i > 0) })
	}
	wg.Wait()
	holds = !parts.stopped.Load() && t.Work.Half(before) == nil
	for i, c := range e.clauses {
		c.rows, c.err = 0, nil
		for _, h := range e.workers {
			c.rows += h.own[i].rows
			holds = holds && h.own[i].err == nil
		}
	}
	if !holds {
		return false
	}
	for _, h := range e.workers {
		for i := range h.watch {
			e.timing[i].Add(h.watch[i].Last)
		}
	}
	return true
}

// judgeEnd judges parts of a transaction until none are left, or something does not hold.
func (w *worker) judgeEnd(ctx context.Context, t *change.Txn, v change.View, parts *workQueue,
	atEnd bool) {
	clear(w.watch)
	w.timing = w.watch
	w.report.Open(t)
	m := w.machine
	m.begin(ctx, t, v, w.report)
	m.maxRows, m.perRecord, m.queue = m.maxRows/cautious, m.perRecord/cautious, parts
	w.judge(w.clauses, parts.batches(atEnd))
	m.queue = nil
	m.end()
}
