package reference

import (
	"math"

	"github.com/ichiban/prolog/engine"

	"fsward/change"
	"fsward/invariants/ruleset"
	"fsward/invariants/syntax"
)

// ranges holds range/4 and range_down/4.
type ranges struct {
	input      *input
	budget     *budget
	solver     *solver
	arithmetic *arithmetic
}

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

// keyRange makes range/4 and range_down/4: the objects that match TREE and ID and lie between two
// bounds. The bounds are numbers, which bound the last number of an identifier whose other parts
// are known; or keys k(ID,KIND,SUB), in which an unbound part means the least or the greatest
// value.
func (r *ranges) keyRange(predicate string,
	down bool) func(*engine.VM, engine.Term, engine.Term, engine.Term, engine.Term, engine.Cont,
	*engine.Env) *engine.Promise {
	return func(_ *engine.VM, tree, id, low, high engine.Term, k engine.Cont,
		env *engine.Env) *engine.Promise {
		r.budget.last = lookup{predicate, tree, id, env}
		if err := r.budget.spend(1); err != nil {
			return engine.Error(err)
		}
		p, ok := r.input.vocabulary.Pattern(tree, id, r.input.txn.Names, env)
		if !ok {
			return engine.Bool(false)
		}
		if syntax.IsVariable(p.TreeTerm) {
			return engine.Error(syntax.RuleErrorf("%s needs a TREE", predicate))
		}
		keys, ok, err := r.rangeOf(predicate, &p, low, high, env)
		if err != nil {
			return engine.Error(err)
		}
		if !ok {
			return engine.Bool(false)
		}
		keys.Down = down
		collect := NewCollector()
		var objects []change.Object
		return r.solver.solutions(k, func() (*engine.Env, bool, error) {
			for {
				if len(objects) == 0 {
					var err error
					if objects, err = keys.Read(r.input.view, objects, collect); err != nil || len(objects) == 0 {
						return nil, false, err
					}
					if err := r.budget.spend(len(objects)); err != nil {
						return nil, false, err
					}
				}
				o := objects[0]
				objects = objects[1:]
				if !p.Matches(o) {
					continue
				}
				if e, ok := r.input.vocabulary.Unify(&p, o, r.input.txn.Names, env); ok {
					return e, true, nil
				}
			}
		})
	}
}

// rangeOf reads the bounds of a range.
func (r *ranges) rangeOf(predicate string, p *ruleset.Pattern, low, high engine.Term,
	env *engine.Env) (k KeyRange, ok bool, err error) {
	if isKey(low, env) && isKey(high, env) && !r.input.vocabulary.Schema.KindIsTree {
		if k.Lo, err = r.bound(predicate, low, 0, env); err != nil {
			return k, false, err
		}
		if k.Hi, err = r.bound(predicate, high, math.MaxUint64, env); err != nil {
			return k, false, err
		}
		k.Lo.Tree, k.Hi.Tree = p.Tree.N, p.Tree.N
		return k, k.Lo.Compare(k.Hi) <= 0, nil
	}
	lo, err := r.arithmetic.evaluate(low, env)
	if err != nil {
		return k, false, err
	}
	hi, err := r.arithmetic.evaluate(high, env)
	if err != nil {
		return k, false, err
	}
	if p.Kind == 0 || !p.ID.Bound && r.input.vocabulary.Shape(p.Kind) != change.ShapeNum {
		return k, false, syntax.RuleErrorf("%s needs all of %s but its last number, or two keys as bounds", predicate, syntax.TermText(p.IDTerm, env))
	}
	first, last, ok := Interval(lo, hi)
	if !ok {
		return k, false, nil
	}
	if k, ok = RangeBetween(r.input.vocabulary,
		change.Object{Tree: p.Tree.N, ID: p.ID.N, Kind: p.Kind}, first, last, false); !ok {
		return k, false, syntax.RuleErrorf("%s: names have no order", predicate)
	}
	return k, true, nil
}

func isKey(t engine.Term, env *engine.Env) bool {
	return syntax.IsFunctor(env.Resolve(t), syntax.AtomK, 3)
}

// bound reads a key that bounds a range; open is the value of an unbound part.
func (r *ranges) bound(predicate string, t engine.Term, open uint64,
	env *engine.Env) (o change.Object, err error) {
	key := env.Resolve(t).(engine.Compound)
	bad := func() (change.Object, error) {
		return o, syntax.RuleErrorf("%s: %s is not a bound", predicate, syntax.TermText(key, env))
	}
	number := func(t engine.Term) (uint64, bool) {
		if t = env.Resolve(t); syntax.IsVariable(t) {
			return open, true
		}
		return syntax.IDBits(t)
	}
	var ok1, ok2 bool
	o.ID, ok1 = number(key.Arg(0))
	o.Sub, ok2 = number(key.Arg(2))
	o.Kind, o.Aux = change.Kind(open), open
	if kind := env.Resolve(key.Arg(1)); !syntax.IsVariable(kind) {
		atom, isAtom := kind.(engine.Atom)
		k, known := r.input.vocabulary.Kinds[atom]
		if !isAtom || !known {
			return bad()
		}
		o.Kind = k
	}
	if !ok1 || !ok2 {
		return bad()
	}
	return o, nil
}

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

// A ViewError is a failure to read the state, which comes from the disk and not from the rule.
type ViewError struct{ Err error }

func (e ViewError) Error() string { return "the state could not be read: " + e.Err.Error() }

func (e ViewError) Unwrap() error { return e.Err }
