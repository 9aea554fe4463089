package facts

import (
	"iter"
	"slices"
	"sort"

	"fsward/change"
)

// View is the state that facts describe. It implements change.View; nothing in it can fail.
type View struct {
	objects        []change.Object // sorted, each once
	fields         map[fieldOf]change.Value
	before, behind map[change.Object]change.Object
}

type fieldOf struct {
	object change.Object
	field  change.Field
}

func newView() *View {
	return &View{fields: map[fieldOf]change.Value{}, before: map[change.Object]change.Object{},
		behind: map[change.Object]change.Object{}}
}

func (v *View) addObject(o change.Object) { v.objects = append(v.objects, o) }

func (v *View) set(o change.Object, f change.Field, x change.Value) { v.fields[fieldOf{o, f}] = x }

func (v *View) join(o, next change.Object) {
	v.behind[o] = next
	v.before[next] = o
}

func (v *View) sort() {
	slices.SortFunc(v.objects, change.Object.Compare)
	v.objects = slices.Compact(v.objects)
}

// search returns the place of o, or where it would be.
func (v *View) search(o change.Object) int {
	return sort.Search(len(v.objects), func(i int) bool { return v.objects[i].Compare(o) >= 0 })
}

// Get returns the value of a state fact.
func (v *View) Get(o change.Object, f change.Field) (change.Value, bool, error) {
	x, ok := v.fields[fieldOf{o, f}]
	return x, ok, nil
}

// Exists tells whether there is an object fact.
func (v *View) Exists(o change.Object) (bool, error) {
	i := v.search(o)
	return i < len(v.objects) && v.objects[i] == o, nil
}

// Scan yields the objects from lo to hi.
func (v *View) Scan(lo, hi change.Object) iter.Seq2[change.Object, error] {
	return func(yield func(change.Object, error) bool) {
		for i := v.search(lo); i < len(v.objects) && v.objects[i].Compare(hi) <= 0; i++ {
			if !yield(v.objects[i], nil) {
				return
			}
		}
	}
}

// Previous returns the object of which an adjacent fact says that o is next.
func (v *View) Previous(o change.Object) (change.Object, bool, error) {
	p, ok := v.before[o]
	return p, ok, nil
}

// Next returns the object that an adjacent fact puts behind o.
func (v *View) Next(o change.Object) (change.Object, bool, error) {
	n, ok := v.behind[o]
	return n, ok, nil
}
