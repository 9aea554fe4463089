package syntax

import (
	"fmt"

	"github.com/ichiban/prolog/engine"
)

// An Indicator names a predicate: NAME/ARITY.
type Indicator struct {
	Name  engine.Atom
	Arity int
}

// Pred returns the indicator of a predicate.
func Pred(name string, arity int) Indicator { return Indicator{engine.NewAtom(name), arity} }

// IsVariable reports whether a resolved term is a variable without a value.
func IsVariable(t engine.Term) bool { _, ok := t.(engine.Variable); return ok }

func isCompound(t engine.Term) bool { _, ok := t.(engine.Compound); return ok }

// IsNumber reports whether a resolved term is an integer of any size.
func IsNumber(t engine.Term) bool { _, ok := NumberOf(t); return ok }

func isAtom(t engine.Term) bool {
	switch t.(type) {
	case engine.Atom, Name:
		return true
	default:
		return false
	}
}

// IndicatorOf returns the predicate of a goal or a head; ok is false if the term is neither.
func IndicatorOf(t engine.Term) (p Indicator, ok bool) {
	switch t := t.(type) {
	case engine.Atom:
		return Indicator{t, 0}, true
	case engine.Compound:
		return Indicator{t.Functor(), t.Arity()}, true
	default:
		return Indicator{}, false
	}
}

// String writes NAME/ARITY.
func (p Indicator) String() string {
	return fmt.Sprintf("%s/%d", AtomText(p.Name.String()), p.Arity)
}

// IsFunctor reports whether a term is a compound or an atom with a name and an arity.
func IsFunctor(t engine.Term, name engine.Atom, arity int) bool {
	p, ok := IndicatorOf(t)
	return ok && p == Indicator{name, arity}
}

// Ground reports whether a term contains no variable.
func Ground(t engine.Term) bool {
	switch t := t.(type) {
	case engine.Variable:
		return false
	case engine.Compound:
		for i := range t.Arity() {
			if !Ground(t.Arg(i)) {
				return false
			}
		}
	}
	return true
}
