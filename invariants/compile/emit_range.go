package compile

import (
	"errors"
	"math"

	"github.com/ichiban/prolog/engine"

	"fsward/change"
	"fsward/invariants/reference"
	"fsward/invariants/syntax"
	"fsward/invariants/verdict"
)

// A rangeGoal is range/4 or range_down/4.
type rangeGoal struct {
	object objectPattern
	down   bool
	// The bounds are two numbers, or two keys if low is nil.
	low, high expression
	keys      [2]boundPlaces
}

// boundPlaces are the parts of a key that bounds a range; placeAny for a part without a value.
type boundPlaces struct {
	id, sub place
	kind    change.Kind
	anyKind bool
}

func isKeyTemplate(e *bindings, t template) bool {
	c, ok := e.walk(t).(compoundTemplate)
	return ok && c.functor == syntax.AtomK && len(c.args) == 3
}

// rangeKnown reports whether everything is known that a range needs.
func (ch *chooser) rangeKnown(args []template, e *bindings) bool {
	k := ch.known(args[0], args[1], e)
	number := change.Shape(k.shape) == change.ShapeNum && ch.vocabulary.Schema.KindIsTree
	byKeys := isKeyTemplate(e, args[2]) && isKeyTemplate(e, args[3])
	return k.tree && (byKeys || k.id || number) && (byKeys || e.ground(args[2]) && e.ground(args[3]))
}

func (em *lookupEmitter) emitRange(t template, args []template, e *bindings, down bool,
	r *result) error {
	if !em.costs.rangeKnown(args, e) {
		return unsupportedf(
			"%s needs the TREE and all of the identifier but its last number, or two keys as bounds",
			em.explain.text(e, t))
	}
	goal := &rangeGoal{down: down}
	if err := em.rangeBounds(goal, t, args, e); err != nil {
		return err
	}
	object, ops, alive, err := em.patterns.object(e, args[0], args[1])
	if _, isKind := errors.AsType[errKind](err); isKind {
		return unsupportedf("%s of a kind that is not in the text", em.explain.text(e, t))
	}
	if err != nil || !alive {
		r.dead = !alive
		return err
	}
	goal.object = object
	if goal.low != nil && object.kind == 0 && !object.kindPlace.known() {
		return unsupportedf("%s of any kind", em.explain.text(e, t))
	}
	info := em.explain.step(e, t, "the objects between two keys, in order", em.rangeClass())
	if !em.mode.exists {
		em.explain.rows(em.groupOfRange(goal), false)
	}
	ops = append(ops, rangeOp(goal, info))
	r.ops = ops
	return nil
}

// rangeClass returns the class of a range. Under once/1 or a negation, only the first object is
// needed.
func (em *lookupEmitter) rangeClass() verdict.Class {
	if em.mode.exists {
		return verdict.LogN
	}
	return verdict.Directory
}

func (em *lookupEmitter) rangeBounds(goal *rangeGoal, t template, args []template,
	e *bindings) error {
	if !isKeyTemplate(e, args[2]) || !isKeyTemplate(e, args[3]) {
		var ok1, ok2 bool
		goal.low, ok1 = em.arithmetic.expression(e, args[2])
		goal.high, ok2 = em.arithmetic.expression(e, args[3])
		if !ok1 || !ok2 {
			return unsupportedf("%s needs two numbers or two keys as bounds", em.explain.text(e, t))
		}
		return nil
	}
	if em.vocabulary.Schema.KindIsTree {
		return unsupportedf("%s has keys as bounds", em.explain.text(e, t))
	}
	for i := range goal.keys {
		key := e.walk(args[2+i]).(compoundTemplate)
		b := &goal.keys[i]
		for place, part := range map[*place]template{&b.id: key.args[0], &b.sub: key.args[2]} {
			switch x := e.walk(part).(type) {
			case variable:
			case constant:
				*place = constPlace(x)
			case register:
				*place = placeOf(x)
			default:
				return unsupportedf("%s has a bound that is not a key", em.explain.text(e, t))
			}
		}
		switch x := e.walk(key.args[1]).(type) {
		case variable:
			b.anyKind = true
		case constant:
			k, known := em.vocabulary.Kinds[engine.Atom(x.n)]
			if x.tag != tagAtom || !known {
				return unsupportedf("%s has a bound that is not a key", em.explain.text(e, t))
			}
			b.kind = k
		default:
			return unsupportedf("%s has a bound of a kind that is not in the text", em.explain.text(e, t))
		}
	}
	return nil
}

func constPlace(c constant) place { return place{mode: placeConst, value: value(c)} }

func placeOf(r register) place { return place{mode: placeBound, register: r.index} }

func rangeOp(g *rangeGoal, info *stepInfo) op {
	return func(next step) step {
		return func(m *machine) bool {
			keys, ok := g.keyRange(m)
			if !ok {
				return m.err != nil
			}
			base := len(m.objects)
			defer func() { m.objects = m.objects[:base] }()
			for {
				var err error
				if m.objects, err = keys.Read(m.view, m.objects[:base], m.collect); err != nil {
					return m.fail(err)
				}
				end := len(m.objects)
				if end == base {
					return false
				}
				for i := base; i < end; i++ {
					if m.row(info) {
						return true
					}
					o := m.objects[i]
					if g.object.match(m, &o) && next(m) {
						return true
					}
				}
			}
		}
	}
}

// keyRange makes the range; ok is false if it is empty, or after an error.
func (g *rangeGoal) keyRange(m *machine) (k reference.KeyRange, ok bool) {
	var tree, id uint64
	if g.object.tree.known() {
		if tree, ok = g.object.tree.get(m).bits(); !ok {
			return k, false
		}
	}
	if g.low == nil {
		k = reference.KeyRange{Lo: g.keys[0].object(m, 0), Hi: g.keys[1].object(m, math.MaxUint64),
			Down: g.down}
		k.Lo.Tree, k.Hi.Tree = tree, tree
		return k, m.err == nil && k.Lo.Compare(k.Hi) <= 0
	}
	low, ok := g.low(m)
	if !ok {
		return k, false
	}
	high, ok := g.high(m)
	if !ok {
		return k, false
	}
	kind := g.object.kind
	if kind == 0 {
		c := g.object.kindPlace.get(m)
		if kind, ok = m.vocabulary.Kinds[engine.Atom(c.n)]; c.tag != tagAtom || !ok {
			return k, false
		}
	}
	if m.vocabulary.Shape(kind) != change.ShapeNum {
		if id, ok = g.object.id.get(m).bits(); !ok {
			return k, false
		}
	}
	lo, hi, ok := reference.Interval(low, high)
	if !ok {
		return k, false
	}
	if k, ok = reference.RangeBetween(m.vocabulary, change.Object{Tree: tree, ID: id, Kind: kind}, lo,
		hi, g.down); !ok {
		m.fail(errMistake)
	}
	return k, ok
}

// object makes the object that bounds a range; open is the value of a part without one.
func (b *boundPlaces) object(m *machine, open uint64) (o change.Object) {
	number := func(x *place) uint64 {
		if x.mode == placeAny {
			return open
		}
		n, ok := x.get(m).bits()
		if !ok {
			m.fail(errMistake)
		}
		return n
	}
	o.ID, o.Sub, o.Aux, o.Kind = number(&b.id), number(&b.sub), open, b.kind
	if b.anyKind {
		o.Kind = change.Kind(open)
	}
	return o
}
