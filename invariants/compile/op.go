package compile

import (
	"github.com/ichiban/prolog/engine"

	"fsward/change"
	"fsward/invariants/syntax"
)

// An op makes the step of a goal, given the next step.
type op func(next step) step

// stepInfo is what error messages say of a step.
type stepInfo struct{ goal string }

// sequence makes one step of several ops.
func sequence(ops []op, next step) step {
	for i := len(ops) - 1; i >= 0; i-- {
		next = ops[i](next)
	}
	return next
}

// foundIt ends a search for one solution.
func foundIt(*machine) bool { return true }

func failOp(step) step { return func(*machine) bool { return false } }

// testOp continues if a condition holds.
func testOp(holds func(m *machine) bool) op {
	return func(next step) step {
		return func(m *machine) bool { return holds(m) && next(m) }
	}
}

// notOp is negation: it continues if the search has no solution.
func notOp(search []op) op {
	inner := sequence(search, foundIt)
	return func(next step) step {
		return func(m *machine) bool {
			if inner(m) {
				return m.err != nil
			}
			return next(m)
		}
	}
}

// onceOp continues with the first solution.
func onceOp(search []op) op {
	inner := sequence(search, foundIt)
	return func(next step) step {
		return func(m *machine) bool {
			if !inner(m) {
				return false
			}
			return m.err != nil || next(m)
		}
	}
}

// thenOp is if-then-else: each branch contains all that follows.
func thenOp(condition, then, otherwise []op) op {
	inner := sequence(condition, foundIt)
	return func(next step) step {
		yes, no := sequence(then, next), sequence(otherwise, next)
		return func(m *machine) bool {
			if inner(m) {
				return m.err != nil || yes(m)
			}
			return no(m)
		}
	}
}

// orOp tries the branches one after the other.
func orOp(branches [][]op) op {
	return func(next step) step {
		steps := make([]step, len(branches))
		for i, b := range branches {
			steps[i] = sequence(b, next)
		}
		if len(steps) == 2 {
			first, second := steps[0], steps[1]
			return func(m *machine) bool { return first(m) || second(m) }
		}
		return func(m *machine) bool {
			for _, s := range steps {
				if s(m) {
					return true
				}
			}
			return false
		}
	}
}

// computeOp puts the value of an expression into a register.
func computeOp(x expression, register int) op {
	return func(next step) step {
		return func(m *machine) bool {
			n, ok := x(m)
			if !ok {
				return true
			}
			m.r[register] = m.numberValue(n)
			return next(m)
		}
	}
}

// verifyOp is verify/1 with its memory: it continues if the property does not hold.
func verifyOp(search []op, property uint64, registers []register) op {
	inner := sequence(search, foundIt)
	var words, others []int
	for _, r := range registers {
		if r.typ == typeWord {
			words = append(words, r.index)
		} else {
			others = append(others, r.index)
		}
	}
	return func(next step) step {
		return func(m *machine) bool {
			buffer := [1 + 3*maxVerified]uint64{property}
			for i, r := range words {
				buffer[1+i] = m.r[r].n
			}
			key, ok := buffer[:1+len(words)], true
			if len(others) > 0 {
				key, ok = m.appendValues(key, others)
			}
			if ok && m.memo.has(key) {
				return false
			}
			if !inner(m) {
				return next(m)
			}
			if m.err == nil && ok {
				m.memo.add(key)
			}
			return m.err != nil
		}
	}
}

// maxVerified bounds the registers that a property depends on, so that its key fits a buffer.
const maxVerified = 4

// changeOp goes through the records that match.
func changeOp(g *changeGoal, info *stepInfo) op {
	if g.index >= 0 {
		return g.lookUp(info)
	}
	return func(next step) step {
		return func(m *machine) bool {
			if g.isTrigger {
				return g.start(m, info, next)
			}
			if m.streaming != nil {
				if g.begins {
					return g.start(m, info, next)
				}
				if stop, done := g.stream(m, info, next); done {
					return stop
				}
			}
			for _, i := range m.lists.all(g.list) {
				if g.pass {
					m.recordRows = m.rows
				}
				if m.row(info) || g.match(m, &m.lists.records[i]) && next(m) {
					return true
				}
			}
			return false
		}
	}
}

// start goes through the records of the current batch that start a rule.
func (g *changeGoal) start(m *machine, info *stepInfo, next step) bool {
	at := m.resumption()
	for _, i := range m.triggers.list(g.starting) {
		m.recordRows, m.trigger = m.rows, int32(i)
		m.drop()
		if m.row(info) {
			return true
		}
		r := &m.records[i]
		if g.loose && g.object.settled { // the list guarantees the kind
			g.object.loads.load(m, &r.Object)
		} else if !g.match(m, r) {
			continue
		}
		if m.streaming != nil {
			m.streaming.asked = 1
		}
		if next(m) && !m.resume(at) {
			return true
		}
	}
	return false
}

func (g *changeGoal) lookUp(info *stepInfo) op {
	return func(next step) step {
		return func(m *machine) bool {
			if m.streaming != nil {
				if g.begins {
					return g.start(m, info, next)
				}
				if stop, done := g.stream(m, info, next); done {
					return stop
				}
			}
			h, ok := g.hash(m)
			if !ok {
				return false
			}
			x := m.lists.indexes[g.index]
			if !x.built.Load() {
				x.build(m.lists, &m.interner)
			}
			at := x.slot(h).at
			if at >= 0 {
				return at > 0 && (m.row(info) || g.match(m, &m.lists.records[at-1]) && next(m))
			}
			places := m.lists.whole.list(g.list)
			for i := -at; i != 0; i = x.next[i-1] {
				if m.row(info) || g.match(m, &m.lists.records[places[i-1]]) && next(m) {
					return true
				}
			}
			return false
		}
	}
}

// A changeGoal is change(TREE, ID, FIELD, OLD, NEW).
type changeGoal struct {
	object    objectPattern
	fieldPart place // if the list is not of one field
	old, new  valuePattern
	spec      listSpec
	list      int
	index     int // −1 for none
	key       indexKey
	isTrigger bool // it starts the rule: its list is that of the batch
	pass      bool // it begins the pass of a sum
	loose     bool // it restricts neither the field nor the values
	begins    bool // it starts the rule if a stream is judged
	starting  int  // the list of the batch
	// inverse finds the objects by the new value, if the state is asked.
	inverse *queryGoal
}

// hash returns the hash of the key of the goal's index.
func (g *changeGoal) hash(m *machine) (h uint64, ok bool) {
	switch g.key {
	case byNewValue:
		return hashOf(m.lists.Seeds, g.new.want(m)), true
	case byOldValue:
		return hashOf(m.lists.Seeds, g.old.want(m)), true
	}
	lo, _, _, ok := g.object.bounds(m)
	if !ok {
		return 0, false
	}
	switch g.key {
	case byIDNewValue:
		return m.lists.Mix(lo.ID, hashOf(m.lists.Seeds, g.new.want(m))), true
	case byIDOldValue:
		return m.lists.Mix(lo.ID, hashOf(m.lists.Seeds, g.old.want(m))), true
	case byObjectID:
		return m.lists.Near(lo.ID, 0), true
	case byPair:
		return m.lists.Mix(lo.ID, m.lists.Mix(lo.Sub, lo.Aux)), true
	default:
		return m.lists.Near(lo.ID, lo.Sub), true
	}
}

func (g *changeGoal) match(m *machine, r *change.Record) bool {
	return g.object.match(m, &r.Object) && (g.loose || g.matchRest(m, r))
}

func (g *changeGoal) matchRest(m *machine, r *change.Record) bool {
	return (g.fieldPart.mode == placeAny || g.fieldPart.match(m, m.field(r.Field))) &&
		g.old.matchValue(m, r.Old) && g.new.matchValue(m, r.New)
}

// An operand makes a value from registers.
type operand func(m *machine) value

// assignOp puts values into registers.
func assignOp(registers []int, values []operand) op {
	return func(next step) step {
		return func(m *machine) bool {
			for i, v := range values {
				m.r[registers[i]] = v(m)
			}
			return next(m)
		}
	}
}

// openOp takes the compound in a register apart.
func openOp(from int, functor engine.Atom, first, n int) op {
	return func(next step) step {
		return func(m *machine) bool {
			return m.open(m.r[from], functor, m.r[first:first+n]) && next(m)
		}
	}
}

// betweenOp is between/3.
func betweenOp(low, high expression, x place, info *stepInfo) op {
	return func(next step) step {
		return func(m *machine) bool {
			lo, ok := low(m)
			if !ok {
				return m.err != nil
			}
			hi, ok := high(m)
			if !ok {
				return m.err != nil
			}
			for ; lo.Cmp(hi) <= 0; lo = lo.Add(syntax.Number{Small: 1}) {
				if m.row(info) || x.match(m, m.numberValue(lo)) && next(m) {
					return true
				}
			}
			return false
		}
	}
}
