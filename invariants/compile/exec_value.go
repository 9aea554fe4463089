package compile

import (
	"math"
	"math/big"

	"github.com/ichiban/prolog/engine"

	"fsward/change"
	"fsward/invariants/ruleset"
	"fsward/invariants/syntax"
)

// A cell is a ground term in a register of the compiled engine: 24 bytes without pointers, and equal with ==
// exactly if the terms are equal. Terms that do not fit are interned in the machine.
type cell struct {
	n, m uint64
	tag  cellTag
	kind change.Kind // of a cellKey
}

type cellTag uint8

const (
	cellNumber   cellTag = iota // n; 0
	cellNegative                // the number int64(n), below 0; 1: see cell.beyondBits
	cellBig                     // machine.bigs[n]: any other number
	cellAtom                    // engine.Atom(n)
	cellName                    // the name with the handle n that is no literal of a rule
	cellKey                     // k(n, kind, m)
	cellPair                    // a(n, m)
	cellCompound                // machine.compounds[n]
	cellNone
)

func numberCell(n uint64) cell    { return cell{n: n, tag: cellNumber} }
func atomCell(a engine.Atom) cell { return cell{n: uint64(a), tag: cellAtom} }
func (c cell) isNumber() bool {
	return c.tag == cellNumber || c.tag == cellNegative || c.tag == cellBig
}
func (c cell) isAtomic() bool        { return c.tag <= cellName }
func (c cell) isCompound() bool      { return c.tag >= cellKey && c.tag <= cellCompound }
func (c cell) is(a engine.Atom) bool { return c.tag == cellAtom && c.n == uint64(a) }

// bits is idBits for a cell: a place of an identifier, where a negative number stands for the same 64 bits.
func (c cell) bits() (n uint64, ok bool) { return c.n, c.beyondBits() == 0 }

// beyondBits is 0 for what bits takes.
func (c *cell) beyondBits() cellTag { return c.tag >> 1 }

// compoundTerm is a term that no other form of cell holds.
type compoundTerm struct {
	functor engine.Atom
	args    []cell
}

// terms interns what cells refer to. What is interned before mark was called stays over reset.
type terms struct {
	vocabulary *ruleset.Vocabulary
	names      *change.Names

	bigs      []*big.Int
	bigIndex  map[string]uint64
	compounds []compoundTerm
	index     map[string]uint64
	keepBigs  int // how many are in rules and stay
	keepTerms int // of compounds
	piled     int // terms interned since drop last cleared them

	kindCells  [1 + math.MaxUint8]cell // by Kind
	pairs      [1 + math.MaxUint8]bool // by Kind: its identifiers end with a(SUB, AUX)
	wordCells  []cell                  // by WordID
	fieldCells []cell                  // by Field
	// literals finds the literals of the rules among names: by handle, behind a filter of its low bits.
	literals map[uint64]engine.Atom
	filter   [64]uint64
}

func newTerms(v *ruleset.Vocabulary) *terms {
	t := &terms{vocabulary: v, bigIndex: map[string]uint64{}, index: map[string]uint64{}, literals: map[uint64]engine.Atom{}}
	for i := range t.kindCells {
		k := change.Kind(i)
		t.kindCells[i], t.pairs[i] = numberCell(uint64(k)), v.Shape(k) == change.ShapePair
		if a, isAtom := v.KindTerm(k).(engine.Atom); isAtom && k != 0 {
			t.kindCells[i] = atomCell(a)
		}
	}
	for _, f := range v.FieldTerms {
		t.fieldCells = append(t.fieldCells, t.ground(f))
	}
	for _, w := range v.WordTerms {
		a, _ := w.(engine.Atom)
		t.wordCells = append(t.wordCells, atomCell(a))
	}
	return t
}

// begin takes the names of a transaction. Interning the literals first means that no name that is new
// later can be one.
func (t *terms) begin(names *change.Names) {
	t.names = names
	clear(t.literals)
	t.filter = [64]uint64{}
	for text, atom := range t.vocabulary.Literals {
		h := names.Handle([]byte(text))
		t.literals[h] = atom
		t.filter[h>>6&63] |= 1 << (h & 63)
	}
}

// keep makes what is interned so far, which is what rules have in them, stay.
func (t *terms) keep() { t.keepBigs, t.keepTerms = len(t.bigs), len(t.compounds) }

// maxInterned is how many terms may pile up before drop clears them.
const maxInterned = 4096

// drop forgets terms that no register refers to any more.
func (t *terms) drop() {
	if t.piled > maxInterned {
		t.forget()
	}
}

func (t *terms) forget() {
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

func (t *terms) end() {
	t.names = nil
	t.forget()
}

// name returns the cell of a name.
func (t *terms) name(handle uint64) cell {
	if t.filter[handle>>6&63]&(1<<(handle&63)) != 0 {
		if a, ok := t.literals[handle]; ok {
			return atomCell(a)
		}
	}
	return cell{n: handle, tag: cellName}
}

// kind returns the cell of a kind, as vocabulary.kindTerm makes its term.
func (t *terms) kind(k change.Kind) cell { return t.kindCells[k] }

// kindOf returns the kind that a cell names; ok is false if it names none.
func (t *terms) kindOf(c cell) (k change.Kind, ok bool) {
	if c.tag != cellAtom {
		return 0, false
	}
	k, ok = t.vocabulary.Kinds[engine.Atom(c.n)]
	return k, ok
}

// value returns the cell of a value.
func (t *terms) value(v change.Value) cell {
	switch v.Tag() {
	case change.U64:
		n, _ := v.Num()
		return numberCell(n)
	case change.Word:
		if w, _ := v.Word(); int(w) < len(t.wordCells) {
			return t.wordCells[w]
		}
		return numberCell(0) // not reached: interpreters use words of their schema
	case change.Name:
		h, _ := v.Handle()
		return t.name(h)
	case change.Key:
		id, kind, sub, _ := t.names.KeyOf(v)
		return cell{n: id, m: sub, tag: cellKey, kind: kind}
	default:
		return atomCell(syntax.AtomNull)
	}
}

// compound returns the cell of a compound.
func (t *terms) compound(functor engine.Atom, args []cell) cell {
	switch {
	case functor == syntax.AtomK && len(args) == 3 && args[1].tag == cellAtom:
		if k, known := t.vocabulary.Kinds[engine.Atom(args[1].n)]; known {
			id, ok1 := args[0].bits()
			sub, ok2 := args[2].bits()
			if ok1 && ok2 {
				return cell{n: id, m: sub, tag: cellKey, kind: k}
			}
		}
	case functor == syntax.AtomA && len(args) == 2 && args[0].tag == cellNumber && args[1].tag == cellNumber:
		return cell{n: args[0].n, m: args[1].n, tag: cellPair}
	}
	key := compoundKey(functor, args)
	i, ok := t.index[string(key)]
	if !ok {
		i = uint64(len(t.compounds))
		t.compounds = append(t.compounds, compoundTerm{functor, append([]cell(nil), args...)})
		t.piled++
		t.index[string(key)] = i
	}
	return cell{n: i, tag: cellCompound}
}

func compoundKey(functor engine.Atom, args []cell) []byte {
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

// open takes a compound apart; ok is false if the cell is none with this functor and arity.
func (t *terms) open(c cell, functor engine.Atom, out []cell) bool {
	switch c.tag {
	case cellKey:
		if functor != syntax.AtomK || len(out) != 3 {
			return false
		}
		out[0], out[1], out[2] = numberCell(c.n), t.kind(c.kind), numberCell(c.m)
		return true
	case cellPair:
		if functor != syntax.AtomA || len(out) != 2 {
			return false
		}
		out[0], out[1] = numberCell(c.n), numberCell(c.m)
		return true
	case cellCompound:
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

// big returns the cell of a number of any size.
func (t *terms) big(b *big.Int) cell {
	switch {
	case b.IsUint64():
		return numberCell(b.Uint64())
	case b.IsInt64():
		return cell{n: uint64(b.Int64()), tag: cellNegative}
	}
	key := b.String()
	i, ok := t.bigIndex[key]
	if !ok {
		i = uint64(len(t.bigs))
		t.bigs = append(t.bigs, b)
		t.piled++
		t.bigIndex[key] = i
	}
	return cell{n: i, tag: cellBig}
}

// number returns the number that a cell is; ok is false for any other.
func (t *terms) number(c cell) (n syntax.Number, ok bool) {
	switch c.tag {
	case cellNumber:
		if c.n <= math.MaxInt64 {
			return syntax.Number{Small: int64(c.n)}, true
		}
		return syntax.Number{Big: new(big.Int).SetUint64(c.n)}, true
	case cellNegative:
		return syntax.Number{Small: int64(c.n)}, true
	case cellBig:
		return syntax.Number{Big: t.bigs[c.n]}, true
	default:
		return syntax.Number{}, false
	}
}

func (t *terms) numberCell(n syntax.Number) cell {
	if n.Big != nil {
		return t.big(n.Big)
	}
	if n.Small < 0 {
		return cell{n: uint64(n.Small), tag: cellNegative}
	}
	return numberCell(uint64(n.Small))
}

// ground returns the cell of a field's term.
func (t *terms) ground(x engine.Term) cell {
	switch x := x.(type) {
	case engine.Atom:
		return atomCell(x)
	case engine.Compound:
		args := make([]cell, x.Arity())
		for i := range args {
			args[i] = t.ground(x.Arg(i))
		}
		return t.compound(x.Functor(), args)
	default:
		return cell{tag: cellNone}
	}
}

// term returns the reference engine's term of a cell.
func (t *terms) term(c cell) engine.Term {
	switch c.tag {
	case cellNumber:
		return syntax.NumTerm(c.n)
	case cellNegative:
		return engine.Integer(int64(c.n))
	case cellBig:
		return syntax.BigTerm(t.bigs[c.n])
	case cellAtom:
		return engine.Atom(c.n)
	case cellName:
		return syntax.Name(t.names.At(c.n))
	case cellKey:
		return syntax.AtomK.Apply(syntax.NumTerm(c.n), t.vocabulary.KindTerm(c.kind), syntax.NumTerm(c.m))
	case cellPair:
		return syntax.AtomA.Apply(syntax.NumTerm(c.n), syntax.NumTerm(c.m))
	case cellCompound:
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
