package reference

import (
	"fsward/change"
	"fsward/invariants/ruleset"
	"fsward/invariants/syntax"
	"math"
)

// A KeyRange is the objects from lo to hi that have not been read yet, in one direction. It reads a
// few objects at a time, and more each time: a caller that needs only the first object pays for one
// search, and a caller that needs all objects of a large range does not search anew for each.
type KeyRange struct {
	Lo, Hi change.Object
	Down   bool
	batch  int
	done   bool
}

// Read appends the next objects to buffer. It may append fewer than there are, and appends none
// only at the end.
func (k *KeyRange) Read(v change.View, buffer []change.Object,
	c *Collector) ([]change.Object, error) {
	if k.done {
		return buffer, nil
	}
	k.batch = max(1, 4*k.batch)
	c.objects, c.left, c.err = buffer, k.batch, nil
	if k.Down {
		v.ScanDown(k.Lo, k.Hi)(c.take)
	} else {
		v.Scan(k.Lo, k.Hi)(c.take)
	}
	buffer, c.objects = c.objects, nil
	switch {
	case c.err != nil:
		return buffer, ViewError{c.err}
	case c.left == 0:
		k.pass(buffer[len(buffer)-1])
	default:
		k.done = true
	}
	return buffer, nil
}

// pass removes the objects up to o from the range.
func (k *KeyRange) pass(o change.Object) {
	least, greatest := uint64(0), uint64(math.MaxUint64)
	end, step := &k.Lo, uint64(1)
	if k.Down {
		least, greatest = greatest, least
		end, step = &k.Hi, math.MaxUint64
	}
	*end = o
	for _, part := range []*uint64{&end.Aux, &end.Sub} {
		if *part != greatest {
			*part += step
			return
		}
		*part = least
	}
	if uint64(end.Kind) != greatest&math.MaxUint8 {
		end.Kind += change.Kind(step)
		return
	}
	end.Kind = change.Kind(least)
	if end.ID != greatest {
		end.ID += step
		return
	}
	k.done = true
}

// A Collector takes the objects that a scan yields. It is made once, because each scan would
// otherwise allocate the function that it calls.
type Collector struct {
	objects []change.Object
	left    int // how many more it takes
	err     error
	take    func(change.Object, error) bool
}

// NewCollector returns a Collector that takes nothing yet.
func NewCollector() *Collector {
	c := &Collector{}
	c.take = func(o change.Object, err error) bool {
		if c.err = err; err != nil {
			return false
		}
		c.objects = append(c.objects, o)
		c.left--
		return c.left > 0
	}
	return c
}

// Interval returns the 64-bit numbers between two numbers of any size; ok is false if there are
// none.
func Interval(low, high syntax.Number) (lo, hi uint64, ok bool) {
	if high.Sign() < 0 || low.Cmp(high) > 0 {
		return 0, 0, false
	}
	if low.Sign() > 0 {
		if lo, ok = low.Bits(); !ok {
			return 0, 0, false
		}
	}
	if hi, ok = high.Bits(); !ok {
		hi = math.MaxUint64
	}
	return lo, hi, true
}

// RangeBetween returns the range of the objects of one kind whose last number is between lo and hi.
// ok is false if no such number orders the objects of that kind.
func RangeBetween(v *ruleset.Vocabulary, o change.Object, lo, hi uint64,
	down bool) (k KeyRange, ok bool) {
	k = KeyRange{Lo: o, Hi: o, Down: down}
	switch v.Shape(o.Kind) {
	case change.ShapeNamed:
		return k, false
	case change.ShapeNum:
		k.Lo.ID, k.Hi.ID = lo, hi
		k.Lo.Sub, k.Hi.Sub = 0, math.MaxUint64
	default:
		k.Lo.Sub, k.Hi.Sub = lo, hi
	}
	k.Lo.Aux, k.Hi.Aux = 0, math.MaxUint64
	return k, true
}
