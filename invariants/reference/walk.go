package reference

import (
	"fsward/change"
	"math"
)

// A Walk goes from a key of a tree to an object near it. The key need not be the key of an object.
type Walk struct {
	down bool
	here bool // an object with the key itself is the nearest
}

// Walks are the predicates that walk.
var Walks = map[string]Walk{
	"previous":     {down: true},
	"next":         {},
	"at_or_before": {down: true, here: true},
	"at_or_after":  {here: true},
}

// From returns the nearest object to a key, and false if there is none.
func (w Walk) From(v change.View, o change.Object) (change.Object, bool, error) {
	if w.here {
		if found, ok, err := first(v, o); ok || err != nil {
			return found, ok, err
		}
	}
	if w.down {
		return v.Previous(o)
	}
	return v.Next(o)
}

// first returns the object itself; if it names no Aux, the first object with its key.
func first(v change.View, o change.Object) (change.Object, bool, error) {
	last := o
	if o.Aux == 0 {
		last.Aux = math.MaxUint64
	}
	for found, err := range v.Scan(o, last) {
		return found, err == nil, err
	}
	return o, false, nil
}
