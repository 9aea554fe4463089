package compile

import (
	"fsward/change"
	"fsward/invariants/reference"
)

// A queryGoal is query(TREE, ID) or query(TREE, ID, FIELD, VALUE). Consecutive goals for several
// fields of one object are one queryGoal.
type queryGoal struct {
	object  objectPattern
	key     keyMaker
	fields  []change.Field // none for query/2
	values  []valuePattern // of fields
	reverse bool           // it uses the reverse index
	named   bool           // it looks for a name, and the kind has KindInfo.ByName
	first   bool           // one object is enough, and nothing of it is needed
}

// maxFields bounds the fields that one look-up reads.
const maxFields = 8

// ask adds the first field, and selects how objects with a known value are found.
func (g *queryGoal) ask(f change.Field, x valuePattern, kind change.KindInfo) {
	g.fields, g.values = []change.Field{f}, []valuePattern{x}
	if g.object.kind != 0 && x.known() {
		ofSub := g.object.sub.known()
		g.reverse = !ofSub && kind.Shape != change.ShapeNum
		g.named = ofSub && f == kind.ByName && f != change.FieldObject
	}
}

// join adds a field of the same object that another goal asks for.
func (g *queryGoal) join(f change.Field, x valuePattern) {
	g.fields, g.values = append(g.fields, f), append(g.values, x)
}

func queryOp(g *queryGoal, info *stepInfo) op {
	switch {
	case g.named:
		return g.byName(info)
	case g.key.exact:
		return g.exact(info)
	case g.key.ranged && !g.reverse:
		return g.ranged(info)
	}
	return func(next step) step {
		return func(m *machine) bool {
			lo, hi, single, ok := g.bounds(m)
			switch {
			case !ok:
				return false
			case single:
				return m.row(info) || g.object.match(m, &lo) && g.look(m, &lo) && next(m) || m.err != nil
			case g.reverse:
				return g.backward(m, info, lo, hi, next)
			default:
				return g.each(m, info, lo, hi, next)
			}
		}
	}
}

// exact looks up one object.
func (g *queryGoal) exact(info *stepInfo) op {
	return func(next step) step {
		return func(m *machine) bool {
			var o change.Object
			switch {
			case !g.key.object(m, &o):
				return false
			case m.row(info):
				return true
			case len(g.fields) > 0:
				return g.look(m, &o) && next(m) || m.err != nil
			}
			exists, err := m.view.Exists(o)
			if err != nil {
				return m.failView(err)
			}
			return exists && next(m)
		}
	}
}

// byName looks up the objects with a name.
func (g *queryGoal) byName(info *stepInfo) op {
	return func(next step) step {
		return func(m *machine) bool {
			lo, hi, single, ok := g.bounds(m)
			if single {
				hi = lo
			}
			switch {
			case !ok:
				return false
			case m.row(info):
				return true
			case m.namer == nil:
				return g.each(m, info, lo, hi, next)
			case !m.readText(g.values[0].want(m)):
				return false
			}
			base := len(m.objects)
			m.scanning, m.scanInfo, m.stop = nil, info, false
			m.namer.Named(lo, hi, m.text, m.gather)
			n, stop := len(m.objects), m.stop
			for i := base; i < n && !stop; i++ {
				o := m.objects[i]
				stop = g.object.match(m, &o) && next(m) || m.err != nil
			}
			m.objects = m.objects[:base]
			return stop
		}
	}
}

// absentOp continues if the object that a goal names exactly does not exist: the most frequent
// negation of rules.
func absentOp(g *queryGoal, info *stepInfo) op {
	return func(next step) step {
		return func(m *machine) bool {
			var o change.Object
			if g.key.object(m, &o) {
				if m.row(info) {
					return true
				}
				exists, err := m.view.Exists(o)
				if err != nil {
					return m.failView(err)
				}
				if exists {
					return false
				}
			}
			return next(m)
		}
	}
}

// ranged goes through the objects of a range that the keyMaker makes.
func (g *queryGoal) ranged(info *stepInfo) op {
	return func(next step) step {
		return func(m *machine) bool {
			var lo change.Object
			switch {
			case !g.key.object(m, &lo):
				return false
			case g.valueKnown():
				return g.group(m, info, lo, g.key.end(lo), next)
			default:
				return g.each(m, info, lo, g.key.end(lo), next)
			}
		}
	}
}

// bounds returns the objects that can match: see objectPattern.bounds.
func (g *queryGoal) bounds(m *machine) (lo, hi change.Object, single, ok bool) {
	if g.key.ranged {
		ok = g.key.object(m, &lo)
		return lo, g.key.end(lo), false, ok
	}
	return g.object.bounds(m)
}

// look reports whether an object exists and has the fields that the goal asks for. After an error
// it reports false.
func (g *queryGoal) look(m *machine, o *change.Object) bool {
	switch {
	case len(g.fields) == 0 || g.fields[0] == change.FieldObject:
		exists, err := m.view.Exists(*o)
		if err != nil {
			return !m.failView(err)
		}
		return exists && (len(g.fields) == 0 || g.values[0].matchValue(m, change.Present))
	case len(g.fields) == 1:
		v, ok, err := m.view.Get(*o, g.fields[0])
		if err != nil {
			return !m.failView(err)
		}
		return ok && g.values[0].matchValue(m, v)
	}
	values := m.values[:len(g.fields)]
	if err := m.view.Values(*o, g.fields, values); err != nil {
		return !m.failView(err)
	}
	for i := range values {
		if values[i].IsNull() || !g.values[i].matchValue(m, values[i]) {
			return false
		}
	}
	return true
}

// each goes through the objects from lo to hi. It reads them first, because the following steps use
// the view as well.
func (g *queryGoal) each(m *machine, info *stepInfo, lo, hi change.Object, next step) (stop bool) {
	base := len(m.objects)
	stop = m.scan(g, info, lo, hi)
	switch {
	case m.err != nil:
	case g.first:
		m.objects = m.objects[:base]
		return stop && next(m)
	default:
		stop = stop || g.through(m, base, next)
	}
	m.objects = m.objects[:base]
	return stop
}

// through goes through the objects that a scan has read into m.objects from base on.
func (g *queryGoal) through(m *machine, base int, next step) (stop bool) {
	n := len(m.objects)
	for i := base; i < n && !stop; i++ {
		o := m.objects[i]
		stop = g.object.match(m, &o) && (len(g.fields) == 0 || g.look(m, &o)) && next(m) || m.err != nil
	}
	return stop
}

// scan appends the objects from lo to hi to m.objects. It reports true after an error, and if it
// found the one match that a goal needs.
func (m *machine) scan(g *queryGoal, info *stepInfo, lo, hi change.Object) (stop bool) {
	m.scanning, m.scanInfo, m.stop = g, info, false
	if m.walker != nil {
		m.walker.Walk(lo, hi, m.gather)
	} else {
		m.view.Scan(lo, hi)(m.gather)
	}
	return m.stop
}

// take receives the objects of a scan; machine.gather is its method value.
func (m *machine) take(o change.Object, err error) bool {
	switch {
	case err != nil:
		m.stop = m.failView(err)
	case m.row(m.scanInfo):
		m.stop = true
	case m.scanning != nil && m.scanning.first:
		m.stop = m.scanning.object.match(m, &o)
	default:
		m.objects = append(m.objects, o)
	}
	return !m.stop
}

// A neighborGoal is previous/3 or one of its kind.
type neighborGoal struct {
	object, beside objectPattern
	key            keyMaker
	walk           reference.Walk
}

func neighborOp(g *neighborGoal, info *stepInfo) op {
	return func(next step) step {
		return func(m *machine) bool {
			var o change.Object
			if g.key.exact {
				if !g.key.object(m, &o) {
					return false
				}
			} else if !g.beginning(m, &o) {
				return m.err != nil
			}
			if m.row(info) {
				return true
			}
			o, ok, err := g.walk.From(m.view, o)
			if err != nil {
				return m.failView(err)
			}
			return ok && g.beside.match(m, &o) && next(m)
		}
	}
}

// beginning makes the object whose neighbor is wanted, if the keyMaker does not; it reports false
// if there is none, or after an error.
func (g *neighborGoal) beginning(m *machine, o *change.Object) bool {
	lo, hi, single, ok := g.object.bounds(m)
	if ok && !single && (lo.Kind != hi.Kind || lo.Sub != hi.Sub ||
		m.vocabulary.Shape(lo.Kind) != change.ShapeKey) {
		return !m.fail(errMistake)
	}
	*o = lo
	return ok
}
