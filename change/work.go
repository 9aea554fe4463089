package change

import (
	"fmt"
	"math"
	"sync/atomic"
	"time"
)

// WorkLimits bound the steps of one judgment: Base, and more for each metadata block that is
// compared and each change record that is judged. The zero value sets no bound.
type WorkLimits struct{ Base, PerBlock, PerRecord int64 }

// A WorkBudget hands out the Work of one judgment after the other. A nil budget hands out nil. It
// is safe for concurrent use.
type WorkBudget struct {
	limits  WorkLimits
	current atomic.Pointer[Work]
}

// NewWorkBudget returns a budget within limits.
func NewWorkBudget(limits WorkLimits) *WorkBudget { return &WorkBudget{limits: limits} }

// SetLimits changes the limits of the judgments that begin later. It is called between two
// judgments.
func (b *WorkBudget) SetLimits(limits WorkLimits) { b.limits = limits }

// Begin returns the Work of a new judgment.
func (b *WorkBudget) Begin() *Work {
	if b == nil {
		return nil
	}
	w := &Work{limits: b.limits, began: time.Now()}
	b.current.Store(w)
	return w
}

// Current returns the Work that was begun last; nil if there is none.
func (b *WorkBudget) Current() *Work {
	if b == nil {
		return nil
	}
	return b.current.Load()
}

// A Work counts the steps of one judgment, of its interpretation and its rules together, and
// bounds them. It counts steps and not time, so that the verdict does not depend on the host: see
// docs/decisions/0037. A nil Work counts nothing. It is safe for concurrent use.
type Work struct {
	limits                  WorkLimits
	began                   time.Time
	spent                   atomic.Int64
	overrun                 atomic.Int64 // steps of rules that were given up
	blocks, records, judged atomic.Int64
	judging                 atomic.Int64 // when the rules began, nanoseconds after began; 0: not yet
	ended                   atomic.Bool
}

// Spend counts steps. The error, a *WorkError, says that they are more than the judgment may take.
func (w *Work) Spend(steps int64) error {
	if w == nil || w.spent.Add(steps) <= w.allowed() {
		return nil
	}
	return w.exhausted()
}

// allowed returns the number of steps that the judgment may take so far.
func (w *Work) allowed() int64 {
	if w.limits == (WorkLimits{}) {
		return math.MaxInt64
	}
	return w.limits.Base + w.limits.PerBlock*w.blocks.Load() + w.limits.PerRecord*w.records.Load()
}

// ruleShare divides the steps of a judgment: one rule may take 1/ruleShare of them.
const ruleShare = 4

// RuleSteps returns the steps that one clause of a rule may take: a part of those that the judgment
// may take so far, less the steps of rules that were given up. Slow rules of any number thus leave
// enough steps for the others.
func (w *Work) RuleSteps() int64 { return (w.allowed() - w.overrun.Load()) / ruleShare }

// GiveUp counts the steps of a rule that took more than RuleSteps.
func (w *Work) GiveUp(steps int64) { w.overrun.Add(steps) }

func (w *Work) exhausted() error {
	return &WorkError{Steps: w.allowed(), Records: w.records.Load(), Blocks: w.blocks.Load()}
}

// Err returns the error of Spend if the judgment has taken too many steps, nil otherwise.
func (w *Work) Err() error { return w.Spend(0) }

// Blocks counts metadata blocks that interpretation compares, and the steps for each.
func (w *Work) Blocks(n int, steps int64) error {
	if w == nil {
		return nil
	}
	w.blocks.Add(int64(n))
	return w.Spend(int64(n) * steps)
}

// Judge notes that the rules begin to judge a number of records.
func (w *Work) Judge(records int) {
	if w != nil {
		w.records.Add(int64(records))
		w.judging.CompareAndSwap(0, int64(time.Since(w.began)))
	}
}

// Judged notes that all rules have judged a number of records.
func (w *Work) Judged(records int) {
	if w != nil {
		w.judged.Add(int64(records))
	}
}

// Spent returns the number of steps so far.
func (w *Work) Spent() int64 {
	if w == nil {
		return 0
	}
	return w.spent.Load()
}

// A WorkMark is a state of a Work.
type WorkMark struct{ spent, judged int64 }

// Mark returns the present state, to which Rewind can return.
func (w *Work) Mark() (m WorkMark) {
	if w != nil {
		m = WorkMark{w.spent.Load(), w.judged.Load()}
	}
	return m
}

// Rewind returns to the state of a mark. No other goroutine may use w meanwhile.
func (w *Work) Rewind(to WorkMark) {
	if w != nil {
		w.spent.Store(to.spent)
		w.judged.Store(to.judged)
	}
}

// Half returns the error of Spend if more than half of the steps that were left at a mark have been
// spent since.
func (w *Work) Half(since WorkMark) error {
	if w == nil || w.spent.Load()-since.spent <= (w.allowed()-since.spent)/2 {
		return nil
	}
	return w.exhausted()
}

// End notes that the judgment is over.
func (w *Work) End() {
	if w != nil {
		w.ended.Store(true)
	}
}

// WorkDone is the progress of a judgment.
type WorkDone struct {
	Began           time.Time
	Judging         time.Duration // how long rules have been running; 0: interpretation goes on
	Blocks          int64         // metadata blocks that interpretation has compared
	Judged, Records int64         // change records: those that all rules are done with, and all
}

// Done returns the progress of the judgment. ok is false if the judgment is over.
func (w *Work) Done() (d WorkDone, ok bool) {
	if w == nil || w.ended.Load() {
		return d, false
	}
	d = WorkDone{Began: w.began, Blocks: w.blocks.Load(), Judged: w.judged.Load(),
		Records: w.records.Load()}
	if from := w.judging.Load(); from != 0 {
		d.Judging = time.Since(w.began) - time.Duration(from)
	}
	return d, true
}

// A WorkError says that a judgment takes more steps than it may. The rest of it was not done.
type WorkError struct{ Steps, Records, Blocks int64 }

func (e *WorkError) Error() string {
	return fmt.Sprintf("the judgment takes more than the %d steps that %d change records and %d "+
		"metadata blocks allow", e.Steps, e.Records, e.Blocks)
}

// meteredSteps is the number of steps that a WorkMeter gathers before it adds them to its Work.
const meteredSteps = 1 << 10

// A WorkMeter counts the steps of one goroutine. The zero value counts nothing.
type WorkMeter struct {
	work    *Work
	pending int64
}

// NewWorkMeter returns a meter that counts to w, which may be nil.
func NewWorkMeter(w *Work) WorkMeter { return WorkMeter{work: w} }

// Fork returns a meter for another goroutine.
func (m *WorkMeter) Fork() WorkMeter { return WorkMeter{work: m.work} }

// Spend counts steps. It adds them to the Work, and returns its error, once meteredSteps are
// gathered.
func (m *WorkMeter) Spend(steps int64) error {
	if m.pending += steps; m.work == nil || m.pending < meteredSteps {
		return nil
	}
	steps, m.pending = m.pending, 0
	return m.work.Spend(steps)
}
