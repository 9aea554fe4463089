package syntax

import "github.com/ichiban/prolog/engine"

// NumberOrders are the predicates that compare the values of expressions.
var NumberOrders = map[string]func(order int) bool{
	"=:=": func(c int) bool { return c == 0 },
	`=\=`: func(c int) bool { return c != 0 },
	"<":   func(c int) bool { return c < 0 },
	"=<":  func(c int) bool { return c <= 0 },
	">":   func(c int) bool { return c > 0 },
	">=":  func(c int) bool { return c >= 0 },
}

// TermOrders are the predicates that compare terms in the standard order.
var TermOrders = map[string]func(order int) bool{
	"==":  func(c int) bool { return c == 0 },
	`\==`: func(c int) bool { return c != 0 },
	"@<":  func(c int) bool { return c < 0 },
	"@=<": func(c int) bool { return c <= 0 },
	"@>":  func(c int) bool { return c > 0 },
	"@>=": func(c int) bool { return c >= 0 },
}

// TermTests are the predicates that test the type of a resolved term. A Name counts as an atom.
var TermTests = map[string]func(engine.Term) bool{
	"var":      IsVariable,
	"nonvar":   func(t engine.Term) bool { return !IsVariable(t) },
	"integer":  IsNumber,
	"number":   IsNumber,
	"atom":     isAtom,
	"compound": isCompound,
	"atomic":   func(t engine.Term) bool { return !IsVariable(t) && !isCompound(t) },
}
