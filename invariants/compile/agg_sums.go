package compile

import (
	"fsward/invariants/keyhash"
	"fsward/invariants/syntax"
)

// Rules ask for sums over changes again and again: the names that an inode gained and lost, for
// each of its names. If its goal allows, a sum is kept for all keys at once: one pass over the
// changes adds up signed amounts for each combination of the values that the goal would be given,
// and every question is a look-up.

// maxSumKeys bounds the values in the key of a sum.
const maxSumKeys = 4

// aggregates holds the sums of a machine: those that are being computed, and those that are kept.
type aggregates struct {
	running []syntax.Number // by counter
	tables  []*sumTable     // of the kept sums: see layout.sums
	passes  []sumPass       // add up the kept sums of a stream
}

func newAggregates(l *layout, seeds keyhash.Seeds, eager bool) aggregates {
	a := aggregates{running: make([]syntax.Number, l.counters), passes: l.passes}
	for _, s := range l.sums {
		a.tables = append(a.tables, &sumTable{Seeds: seeds, width: s.width, eager: eager || s.eager})
	}
	return a
}

// A sumTable holds the sums of one aggregate in one transaction by their keys.
type sumTable struct {
	keyhash.Seeds
	eager      bool  // the pass is worthwhile from the first question on
	spent      int64 // rows of the questions answered without it
	built      bool
	unfit      bool // a key does not last, or there are too many keys
	why        error
	budget     *aggBudget          // of a stream; nil for others
	pages      map[uint64]*sumPage // of a stream
	pageAt     uint64              // number of the page that was used last
	pageLast   *sumPage            // nil: none
	partitions uint64              // of a stream: number of partitions of the keys, a power of two
	limit      int                 // maximal number of entries
	width      int                 // number of values in a key
	keys       []value
	sums       []syntax.Number
	slots      []int32 // 1 + the entry
}

func (t *sumTable) reset(records int) {
	if cap(t.keys) > maxKept || cap(t.slots) > maxKept {
		t.keys, t.sums, t.slots = nil, nil, nil
	}
	t.empty()
	t.spent, t.built, t.unfit, t.why = 0, false, false, nil
	t.limit = records + 1024
}

// empty removes all sums.
func (t *sumTable) empty() {
	clear(t.slots)
	t.keys, t.sums = t.keys[:0], t.sums[:0]
}

// worthwhile reports whether the questions so far have cost as much as a pass over all records.
func (t *sumTable) worthwhile(records int) bool {
	return !t.unfit && (t.eager || t.spent > int64(records))
}

// lasting reports whether a value means the same for the whole transaction, and equals exactly the
// values that a goal would match with it.
func (c value) lasting() bool {
	switch c.tag {
	case tagNumber, tagAtom, tagName, tagKey, tagPair:
		return true
	default:
		return false
	}
}

// slot returns the slot of a key, or the empty slot where it belongs.
func (t *sumTable) slot(key []value) int {
	h, last := uint64(len(key)), len(key)-1
	for i, c := range key {
		if i == last { // usually an inode, and asked for in order
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

// find is get, but ok is false if there is no sum.
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

// at returns the sum of a key, to add to it; nil if the table is unfit.
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

// A keptSum is a sum in a plan that is kept by its keys.
type keptSum struct {
	table int // in aggregates.tables
	keys  []register
	pass  step // adds up everything
	local bool // if everything is new, the state gives the same sum as the changes
}

// ask returns the sum for the values of the registers; ok is false if it must be searched for, or
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
	t := m.aggregates.tables[k.table]
	if !t.built {
		if !t.worthwhile(len(m.records)) {
			return n, false
		}
		rows, recordRows := m.rows, m.recordRows
		k.pass(m)
		if m.recordRows = recordRows + m.rows - rows; m.err != nil || t.unfit {
			t.empty() // the next clause that asks begins anew
			return n, false
		}
		t.built = true
	}
	return t.get(key), true
}

// accountOp is the last op of the pass: it adds an amount to the sum of a key.
func accountOp(table int, amount expression, key []operand) op {
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
			t := m.aggregates.tables[table]
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

// sumOp puts the sum over the solutions of a search into a register; the search ends with addOp.
// kept is nil if each question needs a search.
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
				m.aggregates.tables[kept.table].spent += 1 + m.rows - rows
				kept.remember(m, n)
			}
			m.r[register] = m.numberValue(n)
			return next(m)
		}
	}
}
