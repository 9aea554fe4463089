package compile

import "fsward/change"

// find gets the records of a goal of a commit from the stream.
func (g *changeGoal) find(m *machine, info *stepInfo, next step) (stop bool) {
	lo, hi, single, ok := g.object.bounds(m)
	switch {
	case !ok:
		return false
	case single:
		hi = lo
	}
	err := m.streaming.finder.Find(lo, hi, func(r *change.Record) bool {
		stop = g.spec.has(r) && (m.row(info) || g.match(m, r) && next(m))
		return !stop
	})
	if err != nil {
		return m.failView(err)
	}
	return stop
}

// has reports whether a list contains a record.
func (s listSpec) has(r *change.Record) bool {
	return (s.anyField || s.field == r.Field) && (s.kind == 0 || s.kind == r.Object.Kind) &&
		s.old.has(r.Old) && s.new.has(r.New)
}

func (s side) has(v change.Value) bool {
	switch s {
	case isNull:
		return v.IsNull()
	case hasValue:
		return !v.IsNull()
	default:
		return true
	}
}
