package compile

import (
	"math"

	"fsward/change"
	"fsward/invariants/ruleset"
)

// A keyMaker makes the object that a goal names from the text and from registers. It does less than
// objectPattern, which also handles goals that leave more open.
type keyMaker struct {
	exact  bool // at most one object matches
	ranged bool // a range of objects matches, beginning with the object made

	text             change.Object // the parts that the text gives
	tree, id         int           // registers; −1 for a part that the text gives
	sub, aux         int           // the same; −1 also for a part that is open
	openSub, openAux uint64        // all bits set if the range has any number here
}

// newKeyMaker returns the keyMaker of a pattern of one kind whose first parts are known. For any
// other pattern it is neither exact nor ranged.
func newKeyMaker(v *ruleset.Vocabulary, x *objectPattern) (k keyMaker) {
	if x.kind == 0 || x.kindPlace.mode != placeAny || !x.id.known() ||
		!x.tree.known() && !v.Schema.KindIsTree {
		return k
	}
	k = keyMaker{text: change.Object{Kind: x.kind}, tree: -1, id: -1, sub: -1, aux: -1}
	place := func(p *place, n *uint64, register *int) bool {
		switch p.mode {
		case placeConst:
			*n = p.value.n
		case placeBound:
			*register = p.register
		}
		return p.known()
	}
	place(&x.tree, &k.text.Tree, &k.tree)
	place(&x.id, &k.text.ID, &k.id)
	shape := v.Shape(x.kind)
	switch {
	case shape == change.ShapeNum && x.form == subNone:
		k.exact = true
	case shape == change.ShapeNums && x.form == subNumber && x.sub.known():
		k.exact = place(&x.sub, &k.text.Sub, &k.sub)
	case shape == change.ShapeKey && x.form == subNumber:
		k.openAux = math.MaxUint64
		if place(&x.sub, &k.text.Sub, &k.sub) {
			k.exact = v.Unique(x.kind)
		} else {
			k.openSub = math.MaxUint64
		}
		k.ranged = !k.exact
	case shape == change.ShapePair && x.form == subPair:
		switch {
		case !place(&x.sub, &k.text.Sub, &k.sub):
			k.openSub, k.openAux = math.MaxUint64, math.MaxUint64
		case !place(&x.aux, &k.text.Aux, &k.aux):
			k.openAux = math.MaxUint64
		default:
			k.exact = true
		}
		k.ranged = !k.exact
	}
	return k
}

// object makes the object; it reports false if a register cannot be a number of an identifier.
func (k *keyMaker) object(m *machine, o *change.Object) bool {
	r, other := m.r, valueTag(0)
	o.Tree, o.ID, o.Sub, o.Aux, o.Kind = k.text.Tree, k.text.ID, k.text.Sub, k.text.Aux, k.text.Kind
	if k.tree >= 0 {
		c := &r[k.tree]
		o.Tree, other = c.n, c.beyondBits()
	}
	if k.id >= 0 {
		c := &r[k.id]
		o.ID, other = c.n, other|c.beyondBits()
	}
	if k.sub >= 0 {
		c := &r[k.sub]
		o.Sub, other = c.n, other|c.beyondBits()
	}
	if k.aux >= 0 {
		c := &r[k.aux]
		o.Aux, other = c.n, other|c.beyondBits()
	}
	return other == 0
}

// end returns the last object of the range that begins with lo.
func (k *keyMaker) end(lo change.Object) change.Object {
	lo.Sub |= k.openSub
	lo.Aux |= k.openAux
	return lo
}

// narrow removes the conditions of a pattern that every object of the range meets.
func (k *keyMaker) narrow(x *objectPattern) {
	if !k.ranged {
		return
	}
	x.tree, x.id = place{}, place{}
	if k.openSub == 0 {
		x.sub = place{}
	}
}
