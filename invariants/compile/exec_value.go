package compile

import (
	"maps"
	"math"
	"math/big"
	"slices"

	"github.com/ichiban/prolog/engine"

	"fsward/change"
	"fsward/invariants/ruleset"
	"fsward/invariants/syntax"
)

// A value is a ground term in a register of the compiled engine: 24 bytes without pointers. Two
// values are equal by == if and only if the terms are equal. The interner holds terms that do not
// fit.
type value struct {
	n, m uint64
	tag  valueTag
	kind change.Kind // of a tagKey
}

type valueTag uint8

const (
	tagNumber   valueTag = iota // n; 0
	tagNegative                 // the number int64(n), below 0; 1: see value.beyondBits
	tagBig                      // interner.bigs[n]: any other number
	tagAtom                     // engine.Atom(n)
	tagName                     // the name with the handle n, if it is no literal of a rule
	tagKey                      // k(n, kind, m)
	tagPair                     // a(n, m)
	tagCompound                 // interner.compounds[n]
	tagNone
)

func numberValue(n uint64) value    { return value{n: n, tag: tagNumber} }
func atomValue(a engine.Atom) value { return value{n: uint64(a), tag: tagAtom} }
func (c value) isNumber() bool {
	return c.tag == tagNumber || c.tag == tagNegative || c.tag == tagBig
}
func (c value) isAtomic() bool        { return c.tag <= tagName }
func (c value) isCompound() bool      { return c.tag >= tagKey && c.tag <= tagCompound }
func (c value) is(a engine.Atom) bool { return c.tag == tagAtom && c.n == uint64(a) }

// bits is syntax.IDBits for a value: a part of an identifier, in which a negative number stands for
// the same 64 bits.
func (c value) bits() (n uint64, ok bool) { return c.n, c.beyondBits() == 0 }

// beyondBits is 0 for the values that bits accepts.
func (c *value) beyondBits() valueTag { return c.tag >> 1 }

// A compoundTerm is a term that no other form of value can hold.
type compoundTerm struct {
	functor engine.Atom
	args    []value
}

// An interner holds the terms to which values refer. Terms interned before keep was called survive
// forget.
type interner struct {
	vocabulary *ruleset.Vocabulary
	names      *change.Names

	bigs      []*big.Int
	bigIndex  map[string]uint64
	compounds []compoundTerm
	index     map[string]uint64
	keepBigs  int // number of bigs that occur in rules and survive
	keepTerms int // the same for compounds
	piled     int // terms interned since drop last discarded them

	kindValues  [1 + math.MaxUint8]value // by Kind
	pairs       [1 + math.MaxUint8]bool  // by Kind: whether its identifiers end with a(SUB, AUX)
	wordValues  []value                  // by WordID
	fieldValues []value                  // by Field
	// literals finds the literals of the rules among names: by handle, after a filter of its low
	// bits.
	literals map[uint64]engine.Atom
	filter   [64]uint64
}

func newInterner(v *ruleset.Vocabulary) *interner {
	t := &interner{vocabulary: v, bigIndex: map[string]uint64{}, index: map[string]uint64{},
		literals: map[uint64]engine.Atom{}}
	for i := range t.kindValues {
		k := change.Kind(i)
		t.kindValues[i], t.pairs[i] = numberValue(uint64(k)), v.Shape(k) == change.ShapePair
		if a, isAtom := v.KindTerm(k).(engine.Atom); isAtom && k != 0 {
			t.kindValues[i] = atomValue(a)
		}
	}
	for _, f := range v.FieldTerms {
		t.fieldValues = append(t.fieldValues, t.ground(f))
	}
	for _, w := range v.WordTerms {
		a, _ := w.(engine.Atom)
		t.wordValues = append(t.wordValues, atomValue(a))
	}
	return t
}

// copied returns an interner that begins with the same terms, for one more machine.
func (t *interner) copied() interner {
	c := *t
	c.bigs, c.compounds = slices.Clone(t.bigs), slices.Clone(t.compounds)
	c.bigIndex, c.index = maps.Clone(t.bigIndex), maps.Clone(t.index)
	c.literals = map[uint64]engine.Atom{}
	return c
}

// begin sets the names of a transaction. It interns the literals first, so that no later name can
// be one.
func (t *interner) begin(names *change.Names) {
	t.names = names
	clear(t.literals)
	t.filter = [64]uint64{}
	for text, atom := range t.vocabulary.Literals {
		h := names.Handle([]byte(text))
		t.literals[h] = atom
		t.filter[h>>6&63] |= 1 << (h & 63)
	}
}

// keep makes the terms interned so far survive: they occur in rules.
func (t *interner) keep() { t.keepBigs, t.keepTerms = len(t.bigs), len(t.compounds) }

// maxInterned is the number of terms from which on drop discards them.
const maxInterned = 4096

// drop discards terms to which no register refers any more.
func (t *interner) drop() {
	if t.piled > maxInterned {
		t.forget()
	}
}

func (t *interner) forget() {
	t.piled = 0
	if len(t.bigs) > t.keepBigs {
		clear(t.bigs[t.keepBigs:])
		t.bigs = t.bigs[:t.keepBigs]
		clear(t.bigIndex)
		for i, b := range t.bigs {
			t.bigIndex[b.String()] = uint64(i)
		}
	}
	if len(t.compounds) > t.keepTerms {
		clear(t.compounds[t.keepTerms:])
		t.compounds = t.compounds[:t.keepTerms]
		clear(t.index)
		for i, c := range t.compounds {
			t.index[string(compoundKey(c.functor, c.args))] = uint64(i)
		}
	}
}

func (t *interner) end() {
	t.names = nil
	t.forget()
}

// name returns the value of a name.
func (t *interner) name(handle uint64) value {
	if t.filter[handle>>6&63]&(1<<(handle&63)) != 0 {
		if a, ok := t.literals[handle]; ok {
			return atomValue(a)
		}
	}
	return value{n: handle, tag: tagName}
}

// kind returns the value of a kind, which corresponds to ruleset.Vocabulary.KindTerm.
func (t *interner) kind(k change.Kind) value { return t.kindValues[k] }

// kindOf returns the kind that a value names; ok is false if it names none.
func (t *interner) kindOf(c value) (k change.Kind, ok bool) {
	if c.tag != tagAtom {
		return 0, false
	}
	k, ok = t.vocabulary.Kinds[engine.Atom(c.n)]
	return k, ok
}

// intern returns the value of a change.Value.
func (t *interner) intern(v change.Value) value {
	switch v.Tag() {
	case change.U64:
		n, _ := v.Num()
		return numberValue(n)
	case change.Word:
		if w, _ := v.Word(); int(w) < len(t.wordValues) {
			return t.wordValues[w]
		}
		return numberValue(0) // not reached: interpreters use words of their schema
	case change.Name:
		h, _ := v.Handle()
		return t.name(h)
	case change.Key:
		id, kind, sub, _ := t.names.KeyOf(v)
		return value{n: id, m: sub, tag: tagKey, kind: kind}
	default:
		return atomValue(syntax.AtomNull)
	}
}

// compound returns the value of a compound.
func (t *interner) compound(functor engine.Atom, args []value) value {
	switch {
	case functor == syntax.AtomK && len(args) == 3 && args[1].tag == tagAtom:
		if k, known := t.vocabulary.Kinds[engine.Atom(args[1].n)]; known {
			id, ok1 := args[0].bits()
			sub, ok2 := args[2].bits()
			if ok1 && ok2 {
				return value{n: id, m: sub, tag: tagKey, kind: k}
			}
		}
	case functor == syntax.AtomA && len(args) == 2 && args[0].tag == tagNumber &&
		args[1].tag == tagNumber:
		return value{n: args[0].n, m: args[1].n, tag: tagPair}
	}
	key := compoundKey(functor, args)
	i, ok := t.index[string(key)]
	if !ok {
		i = uint64(len(t.compounds))
		t.compounds = append(t.compounds, compoundTerm{functor, append([]value(nil), args...)})
		t.piled++
		t.index[string(key)] = i
	}
	return value{n: i, tag: tagCompound}
}

func compoundKey(functor engine.Atom, args []value) []byte {
	key := make([]byte, 0, 8+18*len(args))
	key = appendWord(key, uint64(functor))
	for _, a := range args {
		key = append(appendWord(appendWord(key, a.n), a.m), byte(a.tag), byte(a.kind))
	}
	return key
}

func appendWord(b []byte, n uint64) []byte {
	for range 8 {
		b = append(b, byte(n))
		n >>= 8
	}
	return b
}

// open takes a compound apart; it reports false if the value has another functor or arity.
func (t *interner) open(c value, functor engine.Atom, out []value) bool {
	switch c.tag {
	case tagKey:
		if functor != syntax.AtomK || len(out) != 3 {
			return false
		}
		out[0], out[1], out[2] = numberValue(c.n), t.kind(c.kind), numberValue(c.m)
		return true
	case tagPair:
		if functor != syntax.AtomA || len(out) != 2 {
			return false
		}
		out[0], out[1] = numberValue(c.n), numberValue(c.m)
		return true
	case tagCompound:
		x := t.compounds[c.n]
		if x.functor != functor || len(x.args) != len(out) {
			return false
		}
		copy(out, x.args)
		return true
	default:
		return false
	}
}

// big returns the value of a number of any size.
func (t *interner) big(b *big.Int) value {
	switch {
	case b.IsUint64():
		return numberValue(b.Uint64())
	case b.IsInt64():
		return value{n: uint64(b.Int64()), tag: tagNegative}
	}
	key := b.String()
	i, ok := t.bigIndex[key]
	if !ok {
		i = uint64(len(t.bigs))
		t.bigs = append(t.bigs, b)
		t.piled++
		t.bigIndex[key] = i
	}
	return value{n: i, tag: tagBig}
}

// number returns the number that a value holds; ok is false if it holds none.
func (t *interner) number(c value) (n syntax.Number, ok bool) {
	switch c.tag {
	case tagNumber:
		if c.n <= math.MaxInt64 {
			return syntax.Number{Small: int64(c.n)}, true
		}
		return syntax.Number{Big: new(big.Int).SetUint64(c.n)}, true
	case tagNegative:
		return syntax.Number{Small: int64(c.n)}, true
	case tagBig:
		return syntax.Number{Big: t.bigs[c.n]}, true
	default:
		return syntax.Number{}, false
	}
}

func (t *interner) numberValue(n syntax.Number) value {
	if n.Big != nil {
		return t.big(n.Big)
	}
	if n.Small < 0 {
		return value{n: uint64(n.Small), tag: tagNegative}
	}
	return numberValue(uint64(n.Small))
}

// ground returns the value of a field's term.
func (t *interner) ground(x engine.Term) value {
	switch x := x.(type) {
	case engine.Atom:
		return atomValue(x)
	case engine.Compound:
		args := make([]value, x.Arity())
		for i := range args {
			args[i] = t.ground(x.Arg(i))
		}
		return t.compound(x.Functor(), args)
	default:
		return value{tag: tagNone}
	}
}

// term returns the reference engine's term of a value.
func (t *interner) term(c value) engine.Term {
	switch c.tag {
	case tagNumber:
		return syntax.NumTerm(c.n)
	case tagNegative:
		return engine.Integer(int64(c.n))
	case tagBig:
		return syntax.BigTerm(t.bigs[c.n])
	case tagAtom:
		return engine.Atom(c.n)
	case tagName:
		return syntax.Name(t.names.At(c.n))
	case tagKey:
		return syntax.AtomK.Apply(syntax.NumTerm(c.n), t.vocabulary.KindTerm(c.kind), syntax.NumTerm(c.m))
	case tagPair:
		return syntax.AtomA.Apply(syntax.NumTerm(c.n), syntax.NumTerm(c.m))
	case tagCompound:
		x := t.compounds[c.n]
		args := make([]engine.Term, len(x.args))
		for i, a := range x.args {
			args[i] = t.term(a)
		}
		return x.functor.Apply(args...)
	default:
		return engine.NewVariable() // not reached: registers are written before they are read
	}
}

// subOf returns the last part of an object's identifier.
func (t *interner) subOf(o *change.Object) value {
	if t.pairs[o.Kind] {
		return value{n: o.Sub, m: o.Aux, tag: tagPair}
	}
	return numberValue(o.Sub)
}

// handle returns the handle of a name; ok is false if the value is not a name.
func (t *interner) handle(c value) (h uint64, ok bool) {
	switch c.tag {
	case tagName:
		return c.n, true
	case tagAtom:
		return t.names.Handle([]byte(engine.Atom(c.n).String())), true
	default:
		return 0, false
	}
}

// field returns the value of a field's term.
func (t *interner) field(f change.Field) value {
	if int(f) < len(t.fieldValues) {
		return t.fieldValues[f]
	}
	return value{tag: tagNone}
}
