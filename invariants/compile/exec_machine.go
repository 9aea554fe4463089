package compile

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"fsward/change"
	"fsward/invariants/keyhash"
	"fsward/invariants/reference"
	"fsward/invariants/ruleset"
	"fsward/invariants/syntax"
	"fsward/invariants/verdict"
)

// A step is one goal of a program at run time: it binds registers and calls what comes after it, once for
// each of its solutions. It returns true to end the whole search: something that was looked for is found,
// or the machine has an error.
type step func(m *machine) bool

// machine runs programs over one transaction.
type machine struct {
	interner
	options ruleset.Options

	ctx      context.Context
	records  []change.Record
	view     change.View
	walker   change.Walker // the view, if it is one
	lists    *recordLists  // of the transaction: what rules look up
	triggers triggerIndex  // of the part of it that is judged: what starts rules
	reverse  reverseIndex
	memo     memo

	r        []value // the registers of the frame that runs
	frame    *frame
	stack    []value // of the frames that are in use
	frames   []*frame
	depth    int
	returned [maxArity]value
	sums     []syntax.Number // of the aggregates that run
	kept     map[uint64]*sumTable
	hashed   reference.NameIndex
	objects  []change.Object // of the scans that run
	values   [maxFields]change.Value
	text     []byte // of the name that is hashed

	rows, maxRows int64 // of the clause that runs
	recordRows    int64 // rows when the clause was given its present record
	perRecord     int64 // rows that one record may cost
	checkAt       int64 // rows at which the bounds are looked at
	trigger       int32 // the present record, −1 where there is none
	err           error
	clause        *compiledClause
	report        *verdict.Report

	collect  *reference.Collector
	gather   func(change.Object, error) bool // takes what a scan yields, for the goal below
	scanning *queryGoal
	scanInfo *stepInfo
	stop     bool // of gather: the scan found what was looked for, or failed

	queue     *workQueue // those that both halves judge at once; nil where one judges alone
	streaming *streaming // nil where the transaction is held
	passes    []sumPass
}

func newMachine(v *ruleset.Vocabulary, o ruleset.Options, lists *recordLists) *machine {
	m := &machine{interner: *newInterner(v), options: o, lists: lists}
	m.reverse.Seeds, m.memo.Seeds = lists.Seeds, lists.Seeds
	m.gather, m.collect = m.take, reference.NewCollector()
	m.kept = map[uint64]*sumTable{}
	return m
}

func (m *machine) begin(ctx context.Context, t *change.Txn, v change.View, report *verdict.Report) {
	m.ctx, m.records, m.view, m.report = ctx, t.Records, v, report
	m.walker, _ = v.(change.Walker)
	m.interner.begin(t.Names)
	m.memo.reset()
	m.reverse.reset()
	m.hashed.Reset()
	for _, t := range m.kept {
		t.reset(len(m.records))
	}
	m.maxRows = m.options.Steps + m.options.StepsPerRecord*int64(len(t.Records))
	m.perRecord = m.options.RowsPerRecord
}

// end lets go of the transaction.
func (m *machine) end() {
	m.interner.end()
	m.ctx, m.records, m.view, m.walker, m.report, m.clause = nil, nil, nil, nil, nil, nil
}

// run runs a plan of a clause through all its solutions, in the part of the transaction that is judged.
func (m *machine) run(c *compiledClause, plan *compiledPlan) {
	m.err, m.rows, m.recordRows, m.checkAt, m.depth, m.trigger = nil, c.rows, c.rows, c.rows, 0, -1
	m.clause = c
	m.stack = m.stack[:0]
	m.frame = m.push(plan.registers, nil, nil)
	m.r = m.frame.registers
	at := m.resumption()
	plan.first(m)
	m.resume(at)
	m.free(m.frame)
	c.rows, c.err = m.rows, m.err
}

func resize[T any](s []T, n int) []T {
	if cap(s) < n {
		return make([]T, n)
	}
	return s[:n]
}

// row charges for a record or an object that is looked at; it reports true if there were too many.
func (m *machine) row(s *stepInfo) bool {
	m.rows++
	return m.rows > m.checkAt && m.checkRows(s)
}

func (m *machine) checkRows(s *stepInfo) bool {
	switch {
	case m.rows > m.maxRows:
		return m.fail(budgetError{fmt.Sprintf("more than the %d rows that a transaction of %d records allows, at %s",
			m.maxRows, len(m.records), s.goal)})
	case m.rows-m.recordRows > m.perRecord:
		return m.fail(budgetError{fmt.Sprintf("more than %d rows for one change record, at %s; %d rows in all",
			m.perRecord, s.goal, m.rows)})
	}
	if err := m.ctx.Err(); err != nil {
		return m.fail(err)
	}
	// The next record may only put the last of these off.
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

// isMistake tells whether an error comes from the rule and not from its budget, the disk or the caller:
// then the reference engine says what it is.
func isMistake(err error) bool {
	_, ok := errors.AsType[syntax.RuleError](err)
	return ok
}

// A frame is the registers of a plan or of one call of a procedure.
type frame struct {
	registers []value
	caller    *frame
	then      step // what follows the call
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

// hashOf returns the hash of a cell.
func hashOf(s keyhash.Seeds, c value) uint64 {
	return s.Mix(s.Mix(c.n, uint64(c.tag)<<8|uint64(c.kind)), c.m)
}

// memo is the set of properties that verify/1 found to hold: words of a fixed meaning for each property.
type memo struct {
	keyhash.Seeds
	slots []uint32 // 1 + start of the entry in words
	words []uint64 // of each entry: its length, the number of the property, the values of its variables
	count int
}

func (t *memo) reset() {
	if len(t.slots) > 1<<20 {
		*t = memo{Seeds: t.Seeds}
		return
	}
	clear(t.slots)
	t.words, t.count = t.words[:0], 0
}

// place returns the slot of a key, or the empty one where it belongs.
func (t *memo) place(key []uint64) (slot int, found bool) {
	h, i := uint64(len(key)), 1
	for ; i < len(key); i += 2 {
		h = t.Mix(h^key[i-1], key[i])
	}
	if i == len(key) {
		h = t.Mix(h, key[i-1])
	}
	mask := len(t.slots) - 1
	for i := int(h) & mask; ; i = (i + 1) & mask {
		at := int(t.slots[i])
		if at == 0 {
			return i, false
		}
		if t.words[at-1] == uint64(len(key)) && slices.Equal(t.words[at:at+len(key)], key) {
			return i, true
		}
	}
}

func (t *memo) has(key []uint64) bool {
	if t.count == 0 {
		return false
	}
	_, found := t.place(key)
	return found
}

// maxMemoWords bounds the memory of the set, to 64 MiB and its slots; what does not fit is proved again.
const maxMemoWords = 1 << 23

func (t *memo) add(key []uint64) {
	if len(t.words)+len(key) >= maxMemoWords {
		return
	}
	if 2*(t.count+1) > len(t.slots) {
		t.grow()
	}
	slot, found := t.place(key)
	if found {
		return
	}
	t.slots[slot] = uint32(len(t.words)) + 1
	t.words = append(append(t.words, uint64(len(key))), key...)
	t.count++
}

func (t *memo) grow() {
	t.slots = make([]uint32, max(64, 2*len(t.slots)))
	for at := 0; at < len(t.words); at += 1 + int(t.words[at]) {
		slot, _ := t.place(t.words[at+1 : at+1+int(t.words[at])])
		t.slots[slot] = uint32(at) + 1
	}
}
