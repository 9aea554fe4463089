package compile

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"

	"fsward/change"
	"fsward/invariants/reference"
	"fsward/invariants/ruleset"
	"fsward/invariants/syntax"
	"fsward/invariants/verdict"

	"github.com/ichiban/prolog/engine"
)

// A step is one goal of a program at run time: it sets registers and calls the next step once for
// each of its solutions. It returns true to end the whole search: because it found what was wanted,
// or because the machine has an error.
type step func(m *machine) bool

// A machine runs programs over one transaction.
type machine struct {
	interner
	options ruleset.Options

	ctx      context.Context
	records  []change.Record
	view     change.View
	walker   change.Walker // the view, if it implements change.Walker
	namer    change.Namer  // the view, if it implements change.Namer
	lists    *recordLists  // of the transaction, for look-ups
	triggers triggerIndex  // of the current batch, for starting rules
	reverse  reverseIndex
	memo     memo // of properties that hold
	answers  memo // of helpers

	r        []value // the registers of the current frame
	frame    *frame
	stack    []value // of the frames in use
	frames   []*frame
	depth    int
	returned [maxArity]value
	hashed   reference.NameIndex
	objects  []change.Object // of the current scans
	values   [maxFields]change.Value
	text     []byte // buffer for a name to hash

	rows, maxRows int64        // of the current clause
	work          *change.Work // of the judgment; nil: each clause has maxRows and perRecord
	charged       int64        // rows of the current clause that work has counted
	recordRows    int64        // rows when the clause was given the current record
	perRecord     int64        // maximal rows for one record
	checkAt       int64        // rows at which the bounds are checked next
	whole         bool         // Txn.Whole
	trigger       int32        // the current record, −1 for none
	err           error
	clause        *compiledClause
	report        *verdict.Report

	collect  *reference.Collector
	gather   func(change.Object, error) bool // receives the objects of a scan, for scanning
	scanning *queryGoal
	scanInfo *stepInfo
	stop     bool // of gather: the scan found what was wanted, or failed

	queue      *workQueue // shared with the other worker; nil if one worker judges alone
	streaming  *streaming // nil if the transaction is in memory
	aggregates aggregates
}

func newMachine(l *layout, o ruleset.Options, lists *recordLists) *machine {
	m := &machine{interner: l.interner.copied(), options: o, lists: lists}
	m.triggers = newTriggerIndex(&l.triggers)
	m.reverse = newReverseIndex(lists.Seeds)
	m.memo.Seeds, m.answers.Seeds = lists.Seeds, lists.Seeds
	m.gather, m.collect = m.take, reference.NewCollector()
	m.aggregates = newAggregates(l, lists.Seeds, o.EagerSums)
	return m
}

func (m *machine) begin(ctx context.Context, t *change.Txn, v change.View, report *verdict.Report) {
	m.ctx, m.records, m.view, m.report = ctx, t.Records, v, report
	m.whole = t.Whole
	m.walker, _ = v.(change.Walker)
	m.namer, _ = v.(change.Namer)
	m.interner.begin(t.Names)
	m.memo.reset()
	m.answers.reset()
	m.reverse.reset()
	m.hashed.Reset()
	for _, t := range m.aggregates.tables {
		t.reset(len(m.records))
	}
	m.maxRows = m.options.Steps + m.options.StepsPerRecord*int64(len(t.Records))
	m.perRecord = m.options.RowsPerRecord
	if m.work = t.Work; m.work != nil {
		m.maxRows, m.perRecord = m.work.RuleSteps(), unbounded
	}
}

// unbounded stands for no bound on rows. Twice as many are still a number.
const unbounded = math.MaxInt64 / 2

// end releases the transaction.
func (m *machine) end() {
	m.interner.end()
	m.ctx, m.records, m.report, m.clause = nil, nil, nil, nil
	m.view, m.walker, m.namer = nil, nil, nil
	m.work = nil
}

// run finds all solutions of a plan of a clause in the current batch.
func (m *machine) run(c *compiledClause, plan *compiledPlan) {
	m.err, m.rows, m.recordRows, m.checkAt, m.depth, m.trigger = nil, c.rows, c.rows, c.rows, 0, -1
	m.clause, m.charged = c, c.rows
	m.stack = m.stack[:0]
	m.frame = m.push(plan.registers, nil, nil)
	m.r = m.frame.registers
	at := m.resumption()
	plan.first(m)
	m.resume(at)
	m.free(m.frame)
	if err := m.charge(); err != nil {
		m.fail(err)
	}
	c.rows, c.err = m.rows, m.err
}

// charge counts the rows since it was called last as steps of the judgment.
func (m *machine) charge() error {
	rows := m.rows - m.charged
	m.charged = m.rows
	err := m.work.Spend(rows)
	if err == nil && m.queue != nil {
		err = m.work.Half(m.queue.before)
	}
	return err
}

func resize[T any](s []T, n int) []T {
	if cap(s) < n {
		return make([]T, n)
	}
	return s[:n]
}

// row charges for a record or an object; it reports true if the clause has had too many.
func (m *machine) row(s *stepInfo) bool {
	m.rows++
	return m.rows > m.checkAt && m.checkRows(s)
}

func (m *machine) checkRows(s *stepInfo) bool {
	alone := m.work != nil && m.queue == nil
	if alone {
		// More for the records that have been counted since, less after rules that were given up.
		m.maxRows = m.work.RuleSteps()
	}
	switch {
	case m.rows > m.maxRows && m.work != nil:
		if alone {
			m.work.GiveUp(m.rows)
		}
		return m.fail(budgetError{fmt.Sprintf("more than the %d steps that one rule may take in this "+
			"judgment, at %s", m.maxRows, s.goal)})
	case m.rows > m.maxRows:
		return m.fail(budgetError{fmt.Sprintf(
			"more than the %d rows that a transaction of %d records allows, at %s",
			m.maxRows, len(m.records), s.goal)})
	case m.rows-m.recordRows > m.perRecord:
		return m.fail(budgetError{fmt.Sprintf(
			"more than %d rows for one change record, at %s; %d rows in all",
			m.perRecord, s.goal, m.rows)})
	}
	if err := cmp.Or(m.ctx.Err(), m.charge()); err != nil {
		return m.fail(err)
	}
	// With the next record, only the last of these can increase.
	m.checkAt = min(m.rows+1024, m.maxRows, m.recordRows+m.perRecord)
	return false
}

// fail ends the search with an error.
func (m *machine) fail(err error) bool {
	if m.err == nil {
		m.err = err
	}
	if m.queue != nil {
		m.queue.stopped.Store(true)
	}
	return true
}

func (m *machine) failView(err error) bool { return m.fail(reference.ViewError{Err: err}) }

// A budgetError says that a rule needs more rows than it may have.
type budgetError struct{ text string }

func (e budgetError) Error() string { return e.text }

// isMistake reports whether an error comes from the rule and not from its budget, the disk or the
// caller. The reference engine then reports the mistake.
func isMistake(err error) bool {
	_, ok := errors.AsType[syntax.RuleError](err)
	return ok
}

// A frame has the registers of a plan or of one call of a procedure.
type frame struct {
	registers []value
	caller    *frame
	then      step // the step after the call
}

// push makes a frame on the stack.
func (m *machine) push(n int, caller *frame, then step) *frame {
	from := len(m.stack)
	for cap(m.stack) < from+n {
		m.stack = append(m.stack[:cap(m.stack)], value{})
	}
	m.stack = m.stack[:from+n]
	clear(m.stack[from:])
	var f *frame
	if last := len(m.frames) - 1; last >= 0 {
		f, m.frames = m.frames[last], m.frames[:last]
	} else {
		f = new(frame)
	}
	*f = frame{m.stack[from : from+n : from+n], caller, then}
	return f
}

// free takes back a frame that nothing refers to any more.
func (m *machine) free(f *frame) { m.frames = append(m.frames, f) }

// build makes the reference engine's term of a template; a variable without a value becomes a
// variable.
func (m *machine) build(t template) engine.Term {
	switch t := t.(type) {
	case constant:
		return m.term(value(t))
	case register:
		return m.term(m.r[t.index])
	case compoundTemplate:
		args := make([]engine.Term, len(t.args))
		for i, a := range t.args {
			args[i] = m.build(a)
		}
		return t.functor.Apply(args...)
	default:
		return engine.NewVariable()
	}
}

// appendValues appends the values of registers; ok is false if one of them does not last for the
// transaction.
func (m *machine) appendValues(key []uint64, registers []int) (_ []uint64, ok bool) {
	for _, r := range registers {
		if key, ok = m.appendValue(key, m.r[r]); !ok {
			return key, false
		}
	}
	return key, true
}

// appendValue appends a value; ok is false if it does not last for the transaction.
func (m *machine) appendValue(key []uint64, c value) (_ []uint64, ok bool) {
	if c.tag == tagBig && c.n >= uint64(m.keepBigs) || c.tag == tagCompound {
		return key, false
	}
	return append(key, c.n, c.m, uint64(c.tag)<<8|uint64(c.kind)), true
}

// bounded restores the one form of a number; it fails if the number is too large.
func (m *machine) bounded(n syntax.Number) (syntax.Number, bool) {
	if n.Big == nil {
		return n, true
	}
	if n.Big.BitLen() > syntax.MaxNumberBits {
		return n, !m.fail(errMistake)
	}
	if n.Big.IsInt64() {
		return syntax.Number{Small: n.Big.Int64()}, true
	}
	return n, true
}
