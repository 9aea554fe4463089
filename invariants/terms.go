package invariants

import (
	"fmt"

	"github.com/ichiban/prolog/engine"
)

var (
	atomCut   = engine.NewAtom("!")
	atomComma = engine.NewAtom(",")
	atomOr    = engine.NewAtom(";")
	atomThen  = engine.NewAtom("->")
	atomNot   = engine.NewAtom(`\+`)
	atomIf    = engine.NewAtom(":-")
	atomStep  = engine.NewAtom("$step")
)

// An indicator names a predicate: NAME/ARITY.
type indicator struct {
	name  engine.Atom
	arity int
}

func pi(name string, arity int) indicator { return indicator{engine.NewAtom(name), arity} }

func isVariable(t engine.Term) bool { _, ok := t.(engine.Variable); return ok }
func isCompound(t engine.Term) bool { _, ok := t.(engine.Compound); return ok }
func isNumber(t engine.Term) bool   { _, ok := numberOf(t); return ok }
func isAtom(t engine.Term) bool {
	switch t.(type) {
	case engine.Atom, name:
		return true
	default:
		return false
	}
}

// indicatorOf returns the predicate of a goal or head; ok is false if it is none.
func indicatorOf(t engine.Term) (p indicator, ok bool) {
	switch t := t.(type) {
	case engine.Atom:
		return indicator{t, 0}, true
	case engine.Compound:
		return indicator{t.Functor(), t.Arity()}, true
	default:
		return indicator{}, false
	}
}

func (p indicator) String() string { return fmt.Sprintf("%s/%d", atomText(p.name.String()), p.arity) }

func isFunctor(t engine.Term, name engine.Atom, arity int) bool {
	p, ok := indicatorOf(t)
	return ok && p == indicator{name, arity}
}

var atomViolation = engine.NewAtom("violation")

func ground(t engine.Term) bool {
	switch t := t.(type) {
	case engine.Variable:
		return false
	case engine.Compound:
		for i := range t.Arity() {
			if !ground(t.Arg(i)) {
				return false
			}
		}
	}
	return true
}

var (
	atomK    = engine.NewAtom("k")
	atomA    = engine.NewAtom("a")
	atomNull = engine.NewAtom("null")
)

var (
	atomDot       = engine.NewAtom(".")
	atomEmptyList = engine.NewAtom("[]")
)
