package invariants

import "github.com/ichiban/prolog/engine"

// numberOrders compare the values of expressions.
var numberOrders = map[string]func(order int) bool{
	"=:=": func(c int) bool { return c == 0 },
	`=\=`: func(c int) bool { return c != 0 },
	"<":   func(c int) bool { return c < 0 },
	"=<":  func(c int) bool { return c <= 0 },
	">":   func(c int) bool { return c > 0 },
	">=":  func(c int) bool { return c >= 0 },
}

// termOrders compare terms in the standard order.
var termOrders = map[string]func(order int) bool{
	"==":  func(c int) bool { return c == 0 },
	`\==`: func(c int) bool { return c != 0 },
	"@<":  func(c int) bool { return c < 0 },
	"@=<": func(c int) bool { return c <= 0 },
	"@>":  func(c int) bool { return c > 0 },
	"@>=": func(c int) bool { return c >= 0 },
}

// termTests tell what a resolved term is. A name counts as an atom.
var termTests = map[string]func(engine.Term) bool{
	"var":      isVariable,
	"nonvar":   func(t engine.Term) bool { return !isVariable(t) },
	"integer":  isNumber,
	"number":   isNumber,
	"atom":     isAtom,
	"compound": isCompound,
	"atomic":   func(t engine.Term) bool { return !isVariable(t) && !isCompound(t) },
}
