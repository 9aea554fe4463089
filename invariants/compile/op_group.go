package compile

import (
	"fsward/change"
	"fsward/invariants/reference"
)

// groupWorthIndexing is the number of objects of one key from which a query finds them by the value
// of a field: the entries of a directory whose names have one hash, the names of an inode in one
// directory.
const groupWorthIndexing = 8

// valueKnown reports whether the value of the first field is known.
func (g *queryGoal) valueKnown() bool {
	return len(g.fields) > 0 && g.fields[0] != change.FieldObject && g.values[0].known()
}

// group goes through the objects from lo to hi, which share a key, that have a value in a field. If
// they are many, it makes an index of their values for the next query.
func (g *queryGoal) group(m *machine, info *stepInfo, lo, hi change.Object, next step) (stop bool) {
	key := reference.ReverseKey{Tree: lo.Tree, ID: lo.ID, Kind: lo.Kind, Field: g.fields[0],
		Sub: lo.Sub, OfSub: true}
	if m.reverse.groups > 0 {
		if _, read := m.reverse.read[key]; read {
			return g.indexed(m, info, key, next)
		}
	}
	base := len(m.objects)
	defer func() { m.objects = m.objects[:base] }()
	if m.scan(g, info, lo, hi) {
		return true
	}
	n := len(m.objects) - base
	if n < groupWorthIndexing || len(m.reverse.entries)+n > reference.MaxReverse {
		return g.through(m, base, next)
	}
	if !g.index(m, key, base) {
		return true
	}
	m.reverse.groups++
	return g.indexed(m, info, key, next)
}

// backward goes through the objects of one id and kind that have a value in a field.
func (g *queryGoal) backward(m *machine, info *stepInfo, lo, hi change.Object, next step) bool {
	key := reference.ReverseKey{Tree: lo.Tree, ID: lo.ID, Kind: lo.Kind, Field: g.fields[0]}
	if _, read := m.reverse.read[key]; !read {
		if len(m.reverse.entries) > reference.MaxReverse {
			return g.each(m, info, lo, hi, next)
		}
		base := len(m.objects)
		done := !m.scan(nil, info, lo, hi) && g.index(m, key, base)
		m.objects = m.objects[:base]
		if !done {
			return true
		}
	}
	return g.indexed(m, info, key, next)
}

// index adds the objects that a scan has read into m.objects from base on to the reverse index: all
// of them, or none and false after an error.
func (g *queryGoal) index(m *machine, key reference.ReverseKey, base int) bool {
	before := len(m.reverse.entries)
	for _, o := range m.objects[base:] {
		v, ok, err := m.view.Get(o, key.Field)
		if err != nil {
			m.reverse.truncate(before)
			return !m.failView(err)
		}
		if ok {
			m.reverse.add(key, o, m.interner.intern(v))
		}
	}
	m.reverse.read[key] = struct{}{}
	return true
}

// indexed goes through the objects that the reverse index has for the value of the first field.
func (g *queryGoal) indexed(m *machine, info *stepInfo, key reference.ReverseKey, next step) bool {
	x, want := &m.reverse, g.values[0].want(m)
	for i := x.first[x.hash(key, want)]; i != 0; {
		e := x.entries[i-1] // a copy: the following steps may index more
		i = e.next
		if m.row(info) {
			return true
		}
		if e.key == key && e.value == want && g.object.match(m, &e.object) &&
			(len(g.fields) == 1 || g.look(m, &e.object)) && next(m) {
			return true
		}
	}
	return m.err != nil
}
