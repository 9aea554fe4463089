package compile

import (
	"fsward/change"
	"fsward/invariants/ruleset"
)

// ofObject reports whether the goal's records are those of objects with a known id. If everything
// is new, the state can answer such a goal.
func (g *changeGoal) ofObject(v *ruleset.Vocabulary) bool {
	return g.object.id.known() && !g.spec.anyField && g.object.kind != 0 &&
		(g.object.tree.known() || v.Schema.KindIsTree)
}

// wantsOld reports whether a goal needs a value before the change.
func (g *changeGoal) wantsOld() bool { return g.spec.old == hasValue || g.spec.new == isNull }

// stream answers a goal of a stream that does not start a rule; done is false if the caller has to
// go through the records.
func (g *changeGoal) stream(m *machine, info *stepInfo, next step) (stop, done bool) {
	old := g.wantsOld() || g.old.known() && !g.old.matchValue(m, change.Value{})
	switch {
	case old && m.streaming.finder == nil:
		return false, true
	case g.pass && m.streaming.summing: // it goes through the part
		return false, false
	case g.ofObject(m.vocabulary):
		return g.ofKnown(m, info, old, next), true
	case m.streaming.summing:
		return m.fail(streamError{info.goal}), true
	case !m.streaming.held.holds(g.list):
		return g.ofSome(m, info, next) || m.fail(streamError{info.goal}), true
	}
	return false, false
}

// ofSome goes through the records of a list that are held, of more that are not. If none of them
// ends the search, the answer is not known.
func (g *changeGoal) ofSome(m *machine, info *stepInfo, next step) (stop bool) {
	for _, i := range m.lists.all(g.list) {
		if m.row(info) || g.match(m, &m.lists.records[i]) && next(m) {
			return true
		}
	}
	return false
}

// ofKnown answers a goal about objects with a known id.
func (g *changeGoal) ofKnown(m *machine, info *stepInfo, old bool, next step) bool {
	lo, hi, single, ok := g.object.bounds(m)
	switch {
	case !ok:
		return false
	case single && m.trigger >= 0 && m.records[m.trigger].Object == lo:
		return g.ofTrigger(m, info, next)
	case m.streaming.finder != nil:
		return g.find(m, info, lo, hi, single, old, next)
	}
	return g.inState(m, info, lo, hi, single, next)
}

// ofTrigger goes through the records of the object of which a record started the rule. They are
// adjacent, so that nothing has to be looked up.
func (g *changeGoal) ofTrigger(m *machine, info *stepInfo, next step) bool {
	at := int(m.trigger)
	object := m.records[at].Object
	for at > 0 && m.records[at-1].Object == object {
		at--
	}
	stop := m.row(info)
	for ; !stop && at < len(m.records) && m.records[at].Object == object; at++ {
		r := &m.records[at]
		stop = g.spec.has(r) && g.match(m, r) && next(m)
	}
	return stop
}

// inState gets the records of a goal from the state.
func (g *changeGoal) inState(m *machine, info *stepInfo, lo, hi change.Object, single bool,
	next step) bool {
	switch {
	case !m.streaming.of.Made(g.spec.kind, g.spec.field):
		return false
	case single:
		return m.row(info) || g.answer(m, lo, false, next)
	case g.inverse != nil && g.new.known():
		lo.Sub, lo.Aux, hi.Sub, hi.Aux = 0, 0, ^uint64(0), ^uint64(0)
		return g.inverse.backward(m, info, lo, hi, next)
	}
	base := len(m.objects)
	stop := m.scan(nil, info, lo, hi)
	n := len(m.objects)
	for i := base; i < n && !stop; i++ {
		stop = g.answer(m, m.objects[i], true, next)
	}
	m.objects = m.objects[:base]
	return stop
}

// answer continues with the record of an object, if one matches. found reports whether a scan has
// found the object, so that it exists.
func (g *changeGoal) answer(m *machine, o change.Object, found bool, next step) bool {
	r := change.Record{Object: o, Field: g.spec.field, New: change.Present}
	ok := found
	var err error
	if r.Field != change.FieldObject {
		r.New, ok, err = m.view.Get(o, r.Field)
	} else if !found {
		ok, err = m.view.Exists(o)
	}
	if err != nil {
		return m.failView(err)
	}
	return ok && g.match(m, &r) && next(m)
}
