package syntax

import "github.com/ichiban/prolog/engine"

// The names that the rule language gives a meaning to.
var (
	AtomCut       = engine.NewAtom("!")
	AtomComma     = engine.NewAtom(",")
	AtomOr        = engine.NewAtom(";")
	AtomThen      = engine.NewAtom("->")
	AtomNot       = engine.NewAtom(`\+`)
	AtomIf        = engine.NewAtom(":-")
	AtomStep      = engine.NewAtom("$step")
	AtomViolation = engine.NewAtom("violation")
	AtomK         = engine.NewAtom("k")
	AtomA         = engine.NewAtom("a")
	AtomNull      = engine.NewAtom("null")
	AtomDot       = engine.NewAtom(".")
	AtomEmptyList = engine.NewAtom("[]")
)
