package compile

import "fsward/change"

// A changeGoal is change(TREE, ID, FIELD, OLD, NEW).
type changeGoal struct {
	object    objectPattern
	fieldPart place // if the list is not of one field
	old, new  valuePattern
	spec      listSpec
	list      int
	index     int // −1 for none
	key       indexKey
	inTree    bool // the goal knows the tree, and so does the key
	isTrigger bool // it starts the rule: its list is that of the batch
	pass      bool // it begins the pass of a sum
	loose     bool // it restricts neither the field nor the values
	begins    bool // it starts the rule if a stream is judged
	starting  int  // the list of the batch
	// inverse finds the objects by the new value, if the state is asked. It is nil if the key leaves
	// few objects: all of a directory may have one type.
	inverse *queryGoal
}

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
			m.streaming.partitions = 1
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
		return m.lists.hashOfID(g.inTree, &lo, hashOf(m.lists.Seeds, g.new.want(m))), true
	case byIDOldValue:
		return m.lists.hashOfID(g.inTree, &lo, hashOf(m.lists.Seeds, g.old.want(m))), true
	default:
		return m.lists.hashOfObject(g.key, g.inTree, &lo), true
	}
}

func (g *changeGoal) match(m *machine, r *change.Record) bool {
	return g.object.match(m, &r.Object) && (g.loose || g.matchRest(m, r))
}

func (g *changeGoal) matchRest(m *machine, r *change.Record) bool {
	return (g.fieldPart.mode == placeAny || g.fieldPart.match(m, m.field(r.Field))) &&
		g.old.matchValue(m, r.Old) && g.new.matchValue(m, r.New)
}
