package compile

import (
	"fsward/change"
	"fsward/invariants/reference"
)

// find gets the records of a goal of a commit from the stream. old: the goal wants an old value.
func (g *changeGoal) find(m *machine, info *stepInfo, lo, hi change.Object, single, old bool,
	next step) (stop bool) {
	if trees := m.streaming.trees; trees != nil && trees.New(lo.Tree) {
		return !old && g.inState(m, info, lo, hi, single, next)
	}
	if single {
		hi = lo
	}
	x, want := g.byValue(m)
	key := reference.ReverseKey{Tree: lo.Tree, ID: lo.ID, Kind: lo.Kind, Field: g.spec.field}
	if x != nil {
		if _, read := x.read[key]; read {
			return g.findByValue(m, info, x, key, want, next)
		}
	}
	visited := 0
	err := m.streaming.finder.Find(lo, hi, func(r *change.Record) bool {
		visited++
		stop = m.row(info) || g.spec.has(r) && g.match(m, r) && next(m)
		return !stop
	})
	if err == nil && x != nil && visited > worthIndexing {
		err = g.indexFound(m, x, key)
	}
	if err != nil {
		return m.failView(err)
	}
	return stop
}

const (
	// worthIndexing is the number of records of one id from which they are found by their values.
	worthIndexing = 1 << 6
	// maxFoundIndex bounds the objects in the indexes of found records. An inode has at most 65,535
	// links.
	maxFoundIndex = 1 << 17
)

// A foundIndex finds the changes of one id and kind by a value. It holds their records, because
// nothing else finds one of them without the others: the key of an inode_extref has the hash of a
// name, which its object does not tell.
type foundIndex struct {
	reverseIndex
	records []change.Record // one for each entry
}

func (x *foundIndex) reset() {
	x.reverseIndex.reset()
	if x.records = x.records[:0]; cap(x.records) > maxKept {
		x.records = nil
	}
}

// byValue returns the index for the value that the goal knows, or nil.
func (g *changeGoal) byValue(m *machine) (x *foundIndex, want value) {
	switch {
	case g.new.known():
		return &m.streaming.byNew, g.new.want(m)
	case g.old.known():
		return &m.streaming.byOld, g.old.want(m)
	}
	return nil, want
}

// findByValue goes through the records of one id that have a value.
func (g *changeGoal) findByValue(m *machine, info *stepInfo, x *foundIndex,
	key reference.ReverseKey, want value, next step) (stop bool) {
	for i := x.first[x.hash(key, want)]; i != 0 && !stop; {
		e, r := x.entries[i-1], x.records[i-1]
		i = e.next
		if e.key == key && e.value == want {
			stop = m.row(info) || g.spec.has(&r) && g.match(m, &r) && next(m)
		}
	}
	return stop
}

// indexFound indexes the records of one field of one id by their values.
func (g *changeGoal) indexFound(m *machine, x *foundIndex, key reference.ReverseKey) error {
	lo := change.Object{Tree: key.Tree, ID: key.ID, Kind: key.Kind}
	hi := lo
	hi.Sub, hi.Aux = ^uint64(0), ^uint64(0)
	known := len(x.entries)
	err := m.streaming.finder.Find(lo, hi, func(r *change.Record) bool {
		v := r.New
		if x == &m.streaming.byOld {
			v = r.Old
		}
		if r.Field == key.Field && !v.IsNull() {
			x.add(key, r.Object, m.interner.intern(v))
			x.records = append(x.records, *r)
		}
		return len(x.entries) <= maxFoundIndex
	})
	if err == nil && len(x.entries) <= maxFoundIndex {
		x.read[key] = struct{}{}
	} else {
		x.truncate(known)
		x.records = x.records[:known]
	}
	return err
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
