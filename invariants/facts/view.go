package facts

import (
	"iter"
	"math/bits"
	"math/rand/v2"
	"slices"
	"sort"

	"fsward/change"
)

// A View is the state that facts describe. It implements change.View; none of its methods fails.
type View struct {
	read                 // until index is called
	entries []entry      // sorted by object, each object once
	fields  []fieldValue // of the entries, concatenated
	seeds   [3]uint64    // of the hashes, so that nobody can choose facts that collide
	places  table        // of entries, by object
	groups  table        // of the first entry of each tree and object id
	ordered bool         // there are no adjacent facts: the order of objects defines neighbors
}

// read is the content of facts, in their order.
type read struct {
	objects   []change.Object
	states    []state
	adjacents [][2]change.Object
}

type state struct {
	object change.Object
	fieldValue
}

type fieldValue struct {
	value change.Value
	field change.Field
}

// An entry is an object with the content of its facts.
type entry struct {
	object         change.Object
	from, to       uint32 // its fields
	before, behind int32  // 1 + the index of the neighbor; 0 means none
	exists         bool   // there is an object fact
}

// A table is a hash table of indexes: 1 + the index, or 0 in an empty slot.
type table []uint32

func makeTable(n int) table {
	size := 8
	for size < 2*n {
		size *= 2
	}
	return make(table, size)
}

// add puts an index into the first free slot.
func (t table) add(hash uint64, place int) {
	mask := uint64(len(t) - 1)
	for hash &= mask; t[hash] != 0; hash = (hash + 1) & mask {
	}
	t[hash] = uint32(place) + 1
}

func mix(x, y uint64) uint64 {
	hi, lo := bits.Mul64(x, y)
	return hi ^ lo
}

func (v *View) groupHash(tree, id uint64) uint64 { return mix(tree^v.seeds[0], id^v.seeds[1]) }

func (v *View) hash(o *change.Object) uint64 {
	return mix(v.groupHash(o.Tree, o.ID)^o.Sub, o.Aux<<8^uint64(o.Kind)^v.seeds[2])
}

func (r *read) addObject(o change.Object) { r.objects = append(r.objects, o) }

func (r *read) set(o change.Object, f change.Field, x change.Value) {
	r.states = append(r.states, state{o, fieldValue{x, f}})
}

func (r *read) join(o, next change.Object) {
	r.adjacents = append(r.adjacents, [2]change.Object{o, next})
}

// Fork returns the view itself, since queries do not change it.
func (v *View) Fork(*change.Names) change.View { return v }

// index builds the tables.
func (v *View) index() {
	all := slices.Clone(v.objects)
	for _, s := range v.states {
		all = append(all, s.object)
	}
	for _, a := range v.adjacents {
		all = append(all, a[0], a[1])
	}
	slices.SortFunc(all, change.Object.Compare)
	all = slices.Compact(all)
	for i := range v.seeds {
		v.seeds[i] = rand.Uint64() | 1
	}
	v.entries, v.places, v.groups = make([]entry, len(all)), makeTable(len(all)), makeTable(len(all))
	for i, o := range all {
		v.entries[i].object = o
		v.places.add(v.hash(&o), i)
		if i == 0 || all[i-1].Tree != o.Tree || all[i-1].ID != o.ID {
			v.groups.add(v.groupHash(o.Tree, o.ID), i)
		}
	}
	for _, o := range v.objects {
		v.find(&o).exists = true
	}
	for _, s := range v.states {
		v.find(&s.object).to++
	}
	end := uint32(0)
	for i := range v.entries {
		e := &v.entries[i]
		n := e.to
		e.from, e.to = end, end
		end += n
	}
	v.fields = make([]fieldValue, end)
	for _, s := range v.states {
		e := v.find(&s.object)
		v.fields[e.to] = s.fieldValue
		e.to++
	}
	for _, a := range v.adjacents {
		e, next := v.at(&a[0]), v.at(&a[1])
		v.entries[e].behind, v.entries[next].before = int32(next)+1, int32(e)+1
	}
	v.ordered = len(v.adjacents) == 0
	v.read = read{}
}

// at returns the index of the entry of an object, or −1.
func (v *View) at(o *change.Object) int {
	mask := uint64(len(v.places) - 1)
	for h := v.hash(o) & mask; ; h = (h + 1) & mask {
		place := v.places[h]
		if place == 0 {
			return -1
		}
		// ID first: it differs most.
		if e := &v.entries[place-1].object; e.ID == o.ID && e.Sub == o.Sub && e.Kind == o.Kind &&
			e.Aux == o.Aux && e.Tree == o.Tree {
			return int(place - 1)
		}
	}
}

// find returns the entry of an object, or nil.
func (v *View) find(o *change.Object) *entry {
	if i := v.at(o); i >= 0 {
		return &v.entries[i]
	}
	return nil
}

// search returns the index of the first entry that is not below o.
func (v *View) search(o change.Object) int {
	from, to := 0, len(v.entries)
	if first := v.group(o.Tree, o.ID); first >= 0 { // most objects share their id with few others
		from = first
		for step := 1; from+step < to; step *= 2 {
			if v.entries[from+step].object.Compare(o) >= 0 {
				to = from + step
				break
			}
			from += step
		}
	}
	return from + sort.Search(to-from, func(
		i int) bool {
		return v.entries[from+i].object.Compare(o) >= 0
	})
}

// group returns the index of the first entry with a tree and an object id, or −1.
func (v *View) group(tree, id uint64) int {
	mask := uint64(len(v.groups) - 1)
	for h := v.groupHash(tree, id) & mask; ; h = (h + 1) & mask {
		place := v.groups[h]
		if place == 0 {
			return -1
		}
		if o := &v.entries[place-1].object; o.ID == id && o.Tree == tree {
			return int(place - 1)
		}
	}
}

// value returns a field of an entry; its last fact counts.
func (v *View) value(e *entry, f change.Field) change.Value {
	for i := int(e.to) - 1; i >= int(e.from); i-- {
		if v.fields[i].field == f {
			return v.fields[i].value
		}
	}
	return change.Value{}
}

// Get returns the value of a state fact.
func (v *View) Get(o change.Object, f change.Field) (change.Value, bool, error) {
	e := v.find(&o)
	if e == nil {
		return change.Value{}, false, nil
	}
	x := v.value(e, f)
	return x, !x.IsNull(), nil
}

// Values returns the values of several state facts.
func (v *View) Values(o change.Object, fields []change.Field, values []change.Value) error {
	e := v.find(&o)
	if e == nil {
		clear(values)
		return nil
	}
	for i, f := range fields {
		values[i] = v.value(e, f)
	}
	return nil
}

// Exists reports whether there is an object fact.
func (v *View) Exists(o change.Object) (bool, error) {
	e := v.find(&o)
	return e != nil && e.exists, nil
}

// Scan yields the objects from lo to hi.
func (v *View) Scan(lo, hi change.Object) iter.Seq2[change.Object, error] {
	return func(yield func(change.Object, error) bool) {
		for i := v.search(lo); i < len(v.entries) && v.entries[i].object.Compare(hi) <= 0; i++ {
			if v.entries[i].exists && !yield(v.entries[i].object, nil) {
				return
			}
		}
	}
}

// ScanDown yields the objects from hi to lo.
func (v *View) ScanDown(lo, hi change.Object) iter.Seq2[change.Object, error] {
	return func(yield func(change.Object, error) bool) {
		end := v.search(hi)
		if end < len(v.entries) && v.entries[end].object == hi {
			end++
		}
		for i := end - 1; i >= 0 && v.entries[i].object.Compare(lo) >= 0; i-- {
			if v.entries[i].exists && !yield(v.entries[i].object, nil) {
				return
			}
		}
	}
}

// Previous returns the object whose adjacent fact names o as next. Without any adjacent facts it
// returns the object before o in their order.
func (v *View) Previous(o change.Object) (change.Object, bool, error) {
	if v.ordered {
		return v.beside(v.search(o)-1, -1, o.Tree)
	}
	if e := v.find(&o); e != nil && e.before != 0 {
		return v.entries[e.before-1].object, true, nil
	}
	return change.Object{}, false, nil
}

// Next is Previous in the other direction.
func (v *View) Next(o change.Object) (change.Object, bool, error) {
	if v.ordered {
		i := v.search(o)
		if i < len(v.entries) && v.entries[i].object == o {
			i++
		}
		return v.beside(i, 1, o.Tree)
	}
	if e := v.find(&o); e != nil && e.behind != 0 {
		return v.entries[e.behind-1].object, true, nil
	}
	return change.Object{}, false, nil
}

// beside returns the nearest object of a tree from an index on, in one direction.
func (v *View) beside(i, by int, tree uint64) (change.Object, bool, error) {
	for ; i >= 0 && i < len(v.entries) && v.entries[i].object.Tree == tree; i += by {
		if v.entries[i].exists {
			return v.entries[i].object, true, nil
		}
	}
	return change.Object{}, false, nil
}
