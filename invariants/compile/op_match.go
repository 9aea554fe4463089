package compile

import (
	"math"

	"fsward/change"
	"fsward/invariants/syntax"
)

// A placeMode is the use of a part of a record or an object by a place of a pattern.
type placeMode uint8

const (
	placeAny   placeMode = iota // ignores it
	placeConst                  // compares it with the place's value
	placeBound                  // compares it with a register that is set before the goal is called
	placeLate                   // compares it with a register that the same goal loads
	placeLoad                   // loads it into a register
)

// A place is one place of a pattern: a number of an identifier, a kind, a field or a value.
type place struct {
	mode     placeMode
	register int
	value    value
}

func (p *place) known() bool { return p.mode == placeConst || p.mode == placeBound }

// get returns the value to which a known place compares.
func (p *place) get(m *machine) value {
	if p.mode == placeConst {
		return p.value
	}
	return m.r[p.register]
}

// number matches a number of an identifier.
func (p *place) number(m *machine, n uint64) bool {
	switch p.mode {
	case placeAny:
		return true
	case placeLoad:
		m.r[p.register] = numberValue(n)
		return true
	case placeConst:
		return p.value.n == n
	default:
		have, ok := m.r[p.register].bits()
		return ok && have == n
	}
}

// match matches a term.
func (p *place) match(m *machine, c value) bool {
	switch p.mode {
	case placeAny:
		return true
	case placeLoad:
		m.r[p.register] = c
		return true
	case placeConst:
		return p.value == c
	default:
		return m.r[p.register] == c
	}
}

// A subForm is the form of the last part of an identifier.
type subForm uint8

const (
	subNumber subForm = iota // a number: ShapeKey, ShapeNums
	subPair                  // a(SUB, AUX): ShapePair
	subName                  // a name: ShapeNamed
	subNone                  // there is none: ShapeNum
	subAny                   // a number or a pair, by the kind of the object
)

// An objectPattern is the TREE and the ID of a goal.
type objectPattern struct {
	tree, id, sub, aux place
	kind               change.Kind // 0 if the text does not say it
	kindPlace          place       // if the text of the identifier does not give the kind
	form               subForm
	// Only the kind is compared: see objectPattern.settle.
	settled bool
	loads   objectLoads
}

// match matches an object and loads its unknown parts.
func (x *objectPattern) match(m *machine, o *change.Object) bool {
	if x.settled {
		if x.kind != 0 && x.kind != o.Kind {
			return false
		}
		x.loads.load(m, o)
		return true
	}
	if !x.tree.number(m, o.Tree) || !x.id.number(m, o.ID) {
		return false
	}
	if x.kind != 0 {
		if x.kind != o.Kind || x.kindPlace.mode != placeAny && !x.kindPlace.match(m, m.kind(o.Kind)) {
			return false
		}
	} else {
		if x.kindPlace.mode != placeAny && !x.kindPlace.match(m, m.kind(o.Kind)) {
			return false
		}
		pair := m.pairs[o.Kind]
		if x.form == subNumber && pair || x.form == subPair && !pair {
			return false
		}
	}
	switch x.form {
	case subNumber:
		return x.sub.number(m, o.Sub)
	case subPair:
		return x.sub.number(m, o.Sub) && x.aux.number(m, o.Aux)
	case subName:
		return x.sub.mode == placeAny || x.sub.match(m, m.name(o.Sub))
	case subAny:
		return x.sub.mode == placeAny || x.sub.match(m, m.subOf(o))
	default:
		return true
	}
}

// objectLoads are the registers for the parts of an object. Numbers that nobody needs go into a
// spare register, which costs less than a test; kind and last are −1 if nobody needs them.
type objectLoads struct{ tree, id, sub, aux, kind, last int }

// load puts the parts into registers. The registers for numbers hold zero values since their frame
// was made, and zero values are numbers; nothing else is put into them.
func (l *objectLoads) load(m *machine, o *change.Object) {
	r := m.r
	r[l.tree].n = o.Tree
	r[l.id].n = o.ID
	r[l.sub].n = o.Sub
	r[l.aux].n = o.Aux
	if l.kind >= 0 {
		r[l.kind] = m.kind(o.Kind)
	}
	if l.last >= 0 {
		r[l.last] = m.subOf(o)
	}
}

// settle makes the pattern one that only loads, if it compares nothing but the kind.
func (x *objectPattern) settle(spare int) {
	l := objectLoads{spare, spare, spare, spare, -1, -1}
	last := &l.sub
	switch {
	case x.form == subName && x.sub.mode != placeAny, x.kind == 0 && x.form != subAny:
		return
	case x.form == subAny:
		last = &l.last
	}
	registers := [...]*int{&l.tree, &l.id, &l.kind, last, &l.aux}
	for i, p := range []*place{&x.tree, &x.id, &x.kindPlace, &x.sub, &x.aux} {
		switch p.mode {
		case placeAny:
		case placeLoad:
			*registers[i] = p.register
		default:
			return
		}
	}
	x.settled, x.loads = true, l
}

// kindBounds returns the first and the last kind of a pattern whose kind the text does not give; ok
// is false if a register names no kind.
func (x *objectPattern) kindBounds(m *machine) (lo, hi change.Kind, ok bool) {
	if !x.kindPlace.known() {
		return 0, math.MaxUint8, true
	}
	k, ok := m.kindOf(x.kindPlace.get(m))
	return k, k, ok
}

// bounds returns the first and the last object that can match the known parts. single says that at
// most one object, lo, can match; ok is false if none can.
func (x *objectPattern) bounds(m *machine) (lo, hi change.Object, single, ok bool) {
	var tree, id uint64
	if x.tree.known() {
		if tree, ok = x.tree.get(m).bits(); !ok {
			return lo, hi, false, false
		}
	}
	if id, ok = x.id.get(m).bits(); !ok {
		return lo, hi, false, false
	}
	lo = change.Object{Tree: tree, ID: id, Kind: x.kind}
	hi = change.Object{Tree: tree, ID: id, Kind: x.kind, Sub: math.MaxUint64, Aux: math.MaxUint64}
	if x.kind == 0 {
		if lo.Kind, hi.Kind, ok = x.kindBounds(m); !ok {
			return lo, hi, false, false
		}
	}
	shape, oneKind := change.ShapeKey, lo.Kind == hi.Kind
	if oneKind {
		shape = m.vocabulary.Shape(lo.Kind)
	}
	subKnown, auxKnown, ok := x.lastPart(m, &lo, oneKind, shape == change.ShapePair)
	if !ok {
		return lo, hi, false, false
	}
	if !oneKind {
		lo.Sub, lo.Aux = 0, 0
		return lo, hi, false, true
	}
	single = subKnown
	switch shape {
	case change.ShapeKey:
		single = subKnown && m.vocabulary.Unique(lo.Kind)
	case change.ShapePair:
		single = subKnown && auxKnown
	case change.ShapeNum:
		single = true
	}
	switch {
	case !subKnown:
		lo.Sub, lo.Aux = 0, 0
	case !auxKnown || shape != change.ShapePair:
		hi.Sub = lo.Sub
		lo.Aux = 0
	default:
		hi.Sub, hi.Aux = lo.Sub, lo.Aux
	}
	return lo, hi, single, true
}

// lastPart reads the known numbers of the last part of the identifier into an object, which is of
// one kind, and that of pairs, or of an unknown one. sub and aux say which numbers are known; ok is
// false if no object can have them.
func (x *objectPattern) lastPart(m *machine, o *change.Object,
	oneKind, pair bool) (sub, aux, ok bool) {
	sub, aux = x.sub.known(), x.aux.known()
	switch {
	case !sub:
	case x.form == subName:
		if o.Sub, ok = m.handle(x.sub.get(m)); !ok {
			return sub, aux, false
		}
	case x.form == subAny && x.sub.get(m).tag == tagPair:
		if oneKind && !pair {
			return sub, aux, false
		}
		c := x.sub.get(m)
		o.Sub, o.Aux, aux = c.n, c.m, true
	default:
		if o.Sub, ok = x.sub.get(m).bits(); !ok || oneKind && pair && x.form != subPair {
			return sub, aux, false
		}
	}
	if x.form == subPair && aux {
		o.Aux, ok = x.aux.get(m).bits()
		return sub, aux, ok
	}
	return sub, aux, true
}

// A valuePattern is the OLD, NEW or VALUE of a goal: a place, or a key k(ID, KIND, SUB) with places
// of its own.
type valuePattern struct {
	place
	key           bool
	id, kind, sub place
	keyKind       change.Kind // the kind; 0 if the text does not give it
}

func (x *valuePattern) matchValue(m *machine, v change.Value) bool {
	switch {
	case x.key:
		return x.matchKey(m, v)
	case x.mode == placeAny:
		return true
	case x.mode == placeLoad:
		m.r[x.register] = m.interner.intern(v)
		return true
	}
	want := &x.value
	if x.mode != placeConst {
		want = &m.r[x.register]
	}
	switch want.tag {
	case tagNumber:
		n, ok := v.Num()
		return ok && n == want.n
	case tagName:
		h, ok := v.Handle()
		return ok && h == want.n
	}
	return *want == m.interner.intern(v)
}

// matchKey matches the parts of a key.
func (x *valuePattern) matchKey(m *machine, v change.Value) bool {
	id, kind, sub, ok := m.names.KeyOf(v)
	if !ok || x.keyKind != 0 && x.keyKind != kind {
		return false
	}
	return x.id.number(m, id) && (x.keyKind != 0 || x.kind.mode == placeAny ||
		x.kind.match(m, m.interner.kind(kind))) && x.sub.number(m, sub)
}

// any reports whether every value matches and is not needed.
func (x *valuePattern) any() bool { return !x.key && x.mode == placeAny }

// known reports whether the value is known when the goal is called.
func (x *valuePattern) known() bool {
	if x.key {
		return x.id.known() && x.kind.known() && x.sub.known()
	}
	return x.place.known()
}

// want returns the known value.
func (x *valuePattern) want(m *machine) value {
	if x.key {
		args := [3]value{x.id.get(m), x.kind.get(m), x.sub.get(m)}
		return m.compound(syntax.AtomK, args[:])
	}
	return x.get(m)
}
