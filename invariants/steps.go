package invariants

import (
	"github.com/ichiban/prolog/engine"

	"fsward/change"
)

// An op makes the step of a goal, given the step that follows it.
type op func(next step) step

// stepInfo is what messages say of a step.
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

// testOp goes on where a condition holds.
func testOp(holds func(m *machine) bool) op {
	return func(next step) step {
		return func(m *machine) bool { return holds(m) && next(m) }
	}
}

// notOp is negation.
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

// onceOp goes on with the first solution.
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

// thenOp is if-then-else: each branch has all that follows in it.
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

// orOp tries branch after branch.
func orOp(branches [][]op) op {
	return func(next step) step {
		steps := make([]step, len(branches))
		for i, b := range branches {
			steps[i] = sequence(b, next)
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

// countOp counts the solutions of a search.
func countOp(search []op, counter, register int) op {
	inner := sequence(search, func(m *machine) bool {
		m.counts[counter]++
		return false
	})
	return func(next step) step {
		return func(m *machine) bool {
			outer := m.counts[counter]
			m.counts[counter] = 0
			inner(m)
			n := m.counts[counter]
			m.counts[counter] = outer
			if m.err != nil {
				return true
			}
			m.r[register] = numberCell(n)
			return next(m)
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
			m.sums[counter], ok = m.bounded(m.sums[counter].add(n))
			return !ok
		}
	}
}

// sumOp gives a register the sum over the solutions of a search, which ends with addOp.
func sumOp(search []op, counter, register int) op {
	inner := sequence(search, nil)
	return func(next step) step {
		return func(m *machine) bool {
			outer := m.sums[counter]
			m.sums[counter] = number{}
			inner(m)
			n := m.sums[counter]
			m.sums[counter] = outer
			if m.err != nil {
				return true
			}
			m.r[register] = m.numberCell(n)
			return next(m)
		}
	}
}

// computeOp gives a register the value of an expression.
func computeOp(x expression, register int) op {
	return func(next step) step {
		return func(m *machine) bool {
			n, ok := x(m)
			if !ok {
				return true
			}
			m.r[register] = m.numberCell(n)
			return next(m)
		}
	}
}

// verifyOp is verify/1 with its memory: it goes on where the property does not hold.
func verifyOp(search []op, property uint64, registers []register) op {
	inner := sequence(search, foundIt)
	return func(next step) step {
		return func(m *machine) bool {
			var buffer [13]uint64
			key, ok := m.memoKey(append(buffer[:0], property), registers)
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

// memoKey writes the values that a property depends on; ok is false where they have no lasting form.
func (m *machine) memoKey(key []uint64, registers []register) (_ []uint64, ok bool) {
	for _, r := range registers {
		c := m.r[r.index]
		if r.typ == typeWord {
			key = append(key, c.n)
			continue
		}
		if c.tag == cellBig && c.n >= uint64(m.keepBigs) || c.tag == cellCompound {
			return key, false
		}
		key = append(key, c.n, c.m, uint64(c.tag)<<8|uint64(c.kind))
	}
	return key, true
}

// changeOp goes through the records that match.
func changeOp(g *changeGoal, info *stepInfo) op {
	if g.index >= 0 {
		return g.lookUp(info)
	}
	return func(next step) step {
		return func(m *machine) bool {
			n := m.lists.size(g.list)
			for i := range n {
				if g.trigger {
					m.recordRows = m.rows
					m.drop()
				}
				if m.row(info) {
					return true
				}
				if g.match(m, m.lists.record(g.list, i)) && next(m) {
					return true
				}
			}
			return false
		}
	}
}

func (g *changeGoal) lookUp(info *stepInfo) op {
	return func(next step) step {
		return func(m *machine) bool {
			h, ok := g.hash(m)
			if !ok {
				return false
			}
			x := &m.lists.indexes[g.index]
			if !x.built {
				if m.lists.size(g.list) == 0 {
					return false
				}
				x.build(&m.lists, &m.terms)
			}
			for i := x.first(h); i != 0; i = x.next[i-1] {
				if m.row(info) {
					return true
				}
				if g.match(m, m.lists.record(g.list, int(i-1))) && next(m) {
					return true
				}
			}
			return false
		}
	}
}

// changeGoal is change(TREE, ID, FIELD, OLD, NEW).
type changeGoal struct {
	object    objectPattern
	fieldPart place // where the list is not of one field
	old, new  valuePattern
	list      int
	index     int // -1: none
	key       indexKey
	trigger   bool
}

// hash returns the hash of what the index of the goal has as its key.
func (g *changeGoal) hash(m *machine) (h uint64, ok bool) {
	switch g.key {
	case byNewValue:
		return m.lists.cell(g.new.want(m)), true
	case byOldValue:
		return m.lists.cell(g.old.want(m)), true
	}
	lo, _, _, ok := g.object.bounds(m)
	if !ok {
		return 0, false
	}
	switch g.key {
	case byIDNewValue:
		return m.lists.mix(lo.ID, m.lists.cell(g.new.want(m))), true
	case byIDOldValue:
		return m.lists.mix(lo.ID, m.lists.cell(g.old.want(m))), true
	case byObjectID:
		return m.lists.mix(lo.ID, 0), true
	default:
		return m.lists.mix(lo.ID, lo.Sub), true
	}
}

func (g *changeGoal) match(m *machine, r *change.Record) bool {
	if g.old.mode == placeConst && g.old.cell != m.terms.value(r.Old) || g.new.mode == placeConst && g.new.cell != m.terms.value(r.New) {
		return false // most records differ here, and nothing need be loaded of them
	}
	return g.object.match(m, &r.Object) && (g.fieldPart.mode == placeAny || g.fieldPart.match(m, m.field(r.Field))) &&
		g.old.matchValue(m, r.Old) && g.new.matchValue(m, r.New)
}

// field returns the term of a field.
func (m *machine) field(f change.Field) cell {
	if int(f) < len(m.fieldCells) {
		return m.fieldCells[f]
	}
	return cell{}
}

// queryGoal is query(TREE, ID) or query(TREE, ID, FIELD, VALUE).
type queryGoal struct {
	object   objectPattern
	field    change.Field
	hasField bool
	value    valuePattern
	reverse  bool // by the reverse index
	first    bool // one object is enough, and nothing of it is needed
}

func queryOp(g *queryGoal, info *stepInfo) op {
	return func(next step) step {
		return func(m *machine) bool {
			lo, hi, single, ok := g.object.bounds(m)
			if !ok {
				return false
			}
			if single {
				if m.row(info) {
					return true
				}
				return g.try(m, &lo, next)
			}
			if g.reverse {
				return g.backward(m, info, lo, hi, next)
			}
			return g.scan(m, info, lo, hi, next)
		}
	}
}

// try goes on if an object matches.
func (g *queryGoal) try(m *machine, o *change.Object, next step) bool {
	switch {
	case !g.hasField || g.field == change.FieldObject:
		exists, err := m.view.Exists(*o)
		if err != nil {
			return m.failView(err)
		}
		if !exists || g.hasField && !g.value.matchValue(m, change.Present) {
			return false
		}
	default:
		v, ok, err := m.view.Get(*o, g.field)
		if err != nil {
			return m.failView(err)
		}
		if !ok || !g.value.matchValue(m, v) {
			return false
		}
	}
	return g.object.match(m, o) && next(m)
}

// scan goes through the objects from lo to hi. They are read first, as what follows asks the view as well.
func (g *queryGoal) scan(m *machine, info *stepInfo, lo, hi change.Object, next step) (stop bool) {
	base := len(m.objects)
	for o, err := range m.view.Scan(lo, hi) {
		if err != nil {
			stop = m.failView(err)
			break
		}
		if m.row(info) {
			stop = true
			break
		}
		if g.first && g.object.match(m, &o) {
			m.objects = m.objects[:base]
			return next(m)
		}
		m.objects = append(m.objects, o)
	}
	for i, n := base, len(m.objects); i < n && !stop && !g.first; i++ {
		o := m.objects[i]
		if g.hasField {
			stop = g.try(m, &o, next)
		} else {
			stop = g.object.match(m, &o) && next(m)
		}
	}
	m.objects = m.objects[:base]
	return stop
}

// backward goes through the objects of one id and kind that have a value in a field.
func (g *queryGoal) backward(m *machine, info *stepInfo, lo, hi change.Object, next step) bool {
	x, key := &m.reverse, reverseKey{lo.Tree, lo.ID, lo.Kind, g.field}
	if _, read := x.read[key]; !read {
		if len(x.entries) > maxReverse {
			return g.scan(m, info, lo, hi, next)
		}
		if x.read == nil {
			x.read, x.first = map[reverseKey]struct{}{}, map[uint64]int32{}
		}
		if !g.read(m, info, key, lo, hi) {
			return true
		}
		x.read[key] = struct{}{}
	}
	want := g.value.want(m)
	for i := x.first[x.hash(key, want)]; i != 0; {
		e := &x.entries[i-1]
		i = e.next
		if m.row(info) {
			return true
		}
		o := e.object
		if e.key == key && e.value == want && g.object.match(m, &o) && next(m) {
			return true
		}
	}
	return false
}

// read puts the objects of a directory into the reverse index; it reports false after an error.
func (g *queryGoal) read(m *machine, info *stepInfo, key reverseKey, lo, hi change.Object) bool {
	base := len(m.objects)
	defer func() { m.objects = m.objects[:base] }()
	for o, err := range m.view.Scan(lo, hi) {
		if err != nil {
			return !m.failView(err)
		}
		if m.row(info) {
			return false
		}
		m.objects = append(m.objects, o)
	}
	for _, o := range m.objects[base:] {
		v, ok, err := m.view.Get(o, g.field)
		if err != nil {
			return !m.failView(err)
		}
		if ok {
			m.reverse.add(key, o, m.terms.value(v))
		}
	}
	return true
}

// neighbourGoal is previous/3 or one of its like.
type neighbourGoal struct {
	object, beside objectPattern
	walk           walk
}

func neighbourOp(g *neighbourGoal, info *stepInfo) op {
	return func(next step) step {
		return func(m *machine) bool {
			lo, hi, single, ok := g.object.bounds(m)
			if !ok {
				return false
			}
			if !single && (lo.Kind != hi.Kind || lo.Sub != hi.Sub || m.vocabulary.shape(lo.Kind) != change.ShapeKey) {
				return m.fail(errMistake)
			}
			if m.row(info) {
				return true
			}
			o, ok, err := g.walk.from(m.view, lo)
			if err != nil {
				return m.failView(err)
			}
			return ok && g.beside.match(m, &o) && next(m)
		}
	}
}

// crcOp is crc32c/2.
func crcOp(text value, hash place) op {
	return func(next step) step {
		return func(m *machine) bool {
			c := text(m)
			var h uint32
			switch c.tag {
			case cellName:
				h = nameHash(m.names.At(c.n))
			case cellAtom:
				h = nameHash(engine.Atom(c.n).String())
			default:
				return m.fail(errMistake)
			}
			return hash.match(m, numberCell(uint64(h))) && next(m)
		}
	}
}

// A value makes a cell of registers.
type value func(m *machine) cell

// assignOp gives registers values.
func assignOp(registers []int, values []value) op {
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
			for ; lo.cmp(hi) <= 0; lo = lo.add(number{small: 1}) {
				if m.row(info) || x.match(m, m.numberCell(lo)) && next(m) {
					return true
				}
			}
			return false
		}
	}
}
