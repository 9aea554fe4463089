package compile

import (
	"fsward/invariants/keyhash"
	"fsward/invariants/syntax"
)

// A sum over changes is asked for again and again: the names that an inode won and lost, for each of its names.
// Where its goal allows, it is kept for all keys at once: one pass over the changes adds up signed amounts for
// each combination of the values that the goal would have been given, and every question is a look-up.

// maxSumKeys bounds the values that a sum is kept by.
const maxSumKeys = 4

// aggregates holds the sums of a machine: those that run, and those that are kept.
type aggregates struct {
	seeds   keyhash.Seeds
	eager   bool            // sums are kept from the first question on
	running []syntax.Number // by counter
	kept    map[uint64]*sumTable
	passes  []sumPass // which add up what is kept of a stream
}

// sumTable holds the sums of one aggregate in one transaction by their keys.
type sumTable struct {
	keyhash.Seeds
	eager      bool  // the pass is worth it from the first question on
	spent      int64 // rows of the questions that were answered without it
	built      bool
	unfit      bool // a key has no form that lasts, or there are too many
	why        error
	budget     *aggBudget          // of a stream; nil for others
	pages      map[uint64]*sumPage // of a stream
	partitions uint64              // of a stream: into how many its keys are divided, a power of two
	limit      int                 // entries
	width      int                 // cells of a key
	keys       []value
	sums       []syntax.Number
	slots      []int32 // 1 + the entry
}

func (t *sumTable) reset(records int) {
	if cap(t.keys) > maxKept || cap(t.slots) > maxKept {
		t.keys, t.sums, t.slots = nil, nil, nil
	}
	clear(t.slots)
	t.keys, t.sums = t.keys[:0], t.sums[:0]
	t.spent, t.built, t.unfit, t.why = 0, false, false, nil
	t.limit = records + 1024
}

// worthwhile tells whether the questions so far have cost as much as the pass over all records.
func (t *sumTable) worthwhile(records int) bool {
	return !t.unfit && (t.eager || t.spent > int64(records))
}

// lasting tells whether a cell means the same for the whole transaction, and is equal exactly to what a goal
// would match it with.
func (c value) lasting() bool {
	switch c.tag {
	case tagNumber, tagAtom, tagName, tagKey, tagPair:
		return true
	default:
		return false
	}
}

// slot returns the slot of a key, or the empty one where it belongs.
func (t *sumTable) slot(key []value) int {
	h, last := uint64(len(key)), len(key)-1
	for i, c := range key {
		if i == last { // mostly an inode, and these in their order
			h = t.Near(c.n, t.Mix(h, hashOf(t.Seeds, value{m: c.m, tag: c.tag, kind: c.kind})))
			break
		}
		h = t.Mix(h, hashOf(t.Seeds, c))
	}
	mask := len(t.slots) - 1
next:
	for i := int(h) & mask; ; i = (i + 1) & mask {
		if t.slots[i] == 0 {
			return i
		}
		entry := t.keys[int(t.slots[i]-1)*t.width:]
		for j, c := range key {
			if entry[j] != c {
				continue next
			}
		}
		return i
	}
}

// get returns the sum of a key: 0 if nothing was added to it.
func (t *sumTable) get(key []value) syntax.Number {
	if len(t.sums) == 0 {
		return syntax.Number{}
	}
	if e := t.slots[t.slot(key)]; e != 0 {
		return t.sums[e-1]
	}
	return syntax.Number{}
}

// find is get; ok is false where there is no sum.
func (t *sumTable) find(key []value) (n syntax.Number, ok bool) {
	if len(t.sums) == 0 {
		return n, false
	}
	e := t.slots[t.slot(key)]
	if e == 0 {
		return n, false
	}
	return t.sums[e-1], true
}

// at returns the sum of a key, to be added to; nil if the table is unfit.
func (t *sumTable) at(key []value) *syntax.Number {
	for _, c := range key {
		if !c.lasting() {
			t.unfit = true
			return nil
		}
	}
	if 2*(len(t.sums)+1) > len(t.slots) {
		t.grow()
	}
	i := t.slot(key)
	if t.slots[i] == 0 {
		if t.budget == nil && len(t.sums) >= t.limit {
			t.unfit = true
			return nil
		}
		t.keys, t.sums = append(t.keys, key...), append(t.sums, syntax.Number{})
		t.slots[i] = int32(len(t.sums))
	}
	return &t.sums[t.slots[i]-1]
}

func (t *sumTable) grow() {
	t.slots = make([]int32, max(64, 2*len(t.slots)))
	for e := range t.sums {
		t.slots[t.slot(t.keys[e*t.width:(e+1)*t.width])] = int32(e) + 1
	}
}

// sumTable returns the table with a number.
func (a *aggregates) sumTable(number uint64, width int) *sumTable {
	t, ok := a.kept[number]
	if !ok {
		t = &sumTable{Seeds: a.seeds, width: width, eager: a.eager}
		a.kept[number] = t
	}
	return t
}

// keptSum is a sum in a plan that is kept by its keys.
type keptSum struct {
	table *sumTable
	keys  []register
	pass  step // adds up everything
	local bool // the state says of a key what the changes do where everything is new
}

// ask returns the sum for the values that the registers have; ok is false if it must be searched for, or
// after an error.
func (k *keptSum) ask(m *machine) (n syntax.Number, ok bool) {
	var buffer [maxSumKeys]value
	key := buffer[:0]
	for _, r := range k.keys {
		c := m.r[r.index]
		if !c.lasting() {
			return n, false
		}
		key = append(key, c)
	}
	if m.streaming != nil {
		return k.askStream(m, key)
	}
	if !k.table.built {
		if !k.table.worthwhile(len(m.records)) {
			return n, false
		}
		rows, recordRows := m.rows, m.recordRows
		k.pass(m)
		if m.recordRows = recordRows + m.rows - rows; m.err != nil || k.table.unfit {
			return n, false
		}
		k.table.built = true
	}
	return k.table.get(key), true
}

// accountOp ends the pass: it adds an amount to the sum of a key.
func accountOp(t *sumTable, amount expression, key []operand) op {
	return func(step) step {
		return func(m *machine) bool {
			n, ok := amount(m)
			if !ok {
				return true
			}
			var buffer [maxSumKeys]value
			cells := buffer[:0]
			for _, v := range key {
				cells = append(cells, v(m))
			}
			if t.budget != nil {
				return !t.account(m, cells, n)
			}
			sum := t.at(cells)
			if sum == nil {
				return true
			}
			*sum, ok = m.bounded(sum.Add(n))
			return !ok
		}
	}
}

// addOp adds an expression to a sum.
func addOp(x expression, counter int) op {
	return func(step) step {
		return func(m *machine) bool {
			n, ok := x(m)
			if !ok {
				return m.err != nil
			}
			m.aggregates.running[counter], ok = m.bounded(m.aggregates.running[counter].Add(n))
			return !ok
		}
	}
}

// sumOp gives a register the sum over the solutions of a search, which ends with addOp; kept is nil where it
// is searched for each time.
func sumOp(search []op, kept *keptSum, counter, register int) op {
	inner := sequence(search, nil)
	return func(next step) step {
		return func(m *machine) bool {
			if kept != nil {
				if n, ok := kept.ask(m); ok || m.err != nil {
					if m.err != nil {
						return true
					}
					m.r[register] = m.numberValue(n)
					return next(m)
				}
			}
			outer, rows := m.aggregates.running[counter], m.rows
			m.aggregates.running[counter] = syntax.Number{}
			inner(m)
			n := m.aggregates.running[counter]
			m.aggregates.running[counter] = outer
			if m.err != nil {
				return true
			}
			if kept != nil {
				kept.table.spent += 1 + m.rows - rows
				kept.remember(m, n)
			}
			m.r[register] = m.numberValue(n)
			return next(m)
		}
	}
}
