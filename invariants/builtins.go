package invariants

import (
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

// A builtin is a predicate that rules may call. Only what stands in the list of builtins exists in the
// interpreter: nothing in it reads or writes a file, changes the rules, or ends the process.
type builtin struct {
	indicator
	predicate any // engine.Predicate0 to engine.Predicate5, or the plain function of one
	goals     []goalArg
}

// A goalArg is an argument that is itself a goal, called with some arguments more.
type goalArg struct{ arg, more int }

// builtins lists the predicates of the interpreter.
func (r *run) builtins() []builtin {
	goal := func(args ...int) (g []goalArg) {
		for _, a := range args {
			g = append(g, goalArg{arg: a})
		}
		return g
	}
	list := []builtin{
		// Records and state.
		{pi("change", 5), r.change, nil},
		{pi("query", 2), r.query2, nil},
		{pi("query", 4), r.query4, nil},
		{pi("previous", 3), r.neighbour("previous/3", walks["previous"]), nil},
		{pi("next", 3), r.neighbour("next/3", walks["next"]), nil},
		{pi("at_or_before", 3), r.neighbour("at_or_before/3", walks["at_or_before"]), nil},
		{pi("at_or_after", 3), r.neighbour("at_or_after/3", walks["at_or_after"]), nil},
		{pi("range", 4), r.keyRange("range/4", false), nil},
		{pi("range_down", 4), r.keyRange("range_down/4", true), nil},
		{pi("crc32c", 2), r.crc32c, nil},
		// Control.
		{pi("$step", 0), r.step, nil},
		{pi("$holds", 1), r.holds, goal(0)},
		{pi("true", 0), func(_ *engine.VM, k engine.Cont, env *engine.Env) *engine.Promise { return k(env) }, nil},
		{pi("fail", 0), func(*engine.VM, engine.Cont, *engine.Env) *engine.Promise { return engine.Bool(false) }, nil},
		{pi("false", 0), func(*engine.VM, engine.Cont, *engine.Env) *engine.Promise { return engine.Bool(false) }, nil},
		{pi(",", 2), r.conjunction, goal(0, 1)},
		{pi(";", 2), r.or, goal(0, 1)},
		{pi("->", 2), r.ifThen, goal(0, 1)},
		{pi(`\+`, 1), r.not, goal(0)},
		{pi("once", 1), r.first, goal(0)},
		{pi("forall", 2), r.forall, goal(0, 1)},
		{pi("call", 1), func(_ *engine.VM, g engine.Term, k engine.Cont, env *engine.Env) *engine.Promise {
			return r.solve(g, k, env)
		}, goal(0)},
		{pi("call", 2), func(_ *engine.VM, g, a engine.Term, k engine.Cont, env *engine.Env) *engine.Promise {
			return r.call(g, []engine.Term{a}, k, env)
		}, []goalArg{{0, 1}}},
		{pi("call", 3), func(_ *engine.VM, g, a, b engine.Term, k engine.Cont, env *engine.Env) *engine.Promise {
			return r.call(g, []engine.Term{a, b}, k, env)
		}, []goalArg{{0, 2}}},
		// Sets of solutions.
		{pi("count", 2), r.count, goal(0)},
		{pi("sum", 3), r.sum, goal(1)},
		{pi("findall", 3), r.findall, goal(1)},
		{pi("between", 3), r.between, nil},
		// Unification.
		{pi("=", 2), r.unify, nil},
		{pi(`\=`, 2), r.differ, nil},
		// Arithmetic.
		{pi("is", 2), r.is, nil},
		// Inspection of terms.
		{pi("arg", 3), engine.Arg, nil},
		{pi("=..", 2), engine.Univ, nil},
		{pi("functor", 3), functor, nil},
	}
	for name, holds := range numberOrders {
		list = append(list, builtin{pi(name, 2), r.comparison(name, holds), nil})
	}
	for name, holds := range termOrders {
		list = append(list, builtin{pi(name, 2), func(_ *engine.VM, x, y engine.Term, k engine.Cont, env *engine.Env) *engine.Promise {
			return unless(!holds(env.Resolve(x).Compare(y, env)), k, env)
		}, nil})
	}
	for name, is := range termTests {
		list = append(list, builtin{pi(name, 1), func(_ *engine.VM, x engine.Term, k engine.Cont, env *engine.Env) *engine.Promise {
			return unless(!is(env.Resolve(x)), k, env)
		}, nil})
	}
	return list
}

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

func unless(fails bool, k engine.Cont, env *engine.Env) *engine.Promise {
	if fails {
		return engine.Bool(false)
	}
	return k(env)
}

// functor is functor/3 for a term that is known: a rule has no use for making terms of any arity.
func functor(vm *engine.VM, t, name, arity engine.Term, k engine.Cont, env *engine.Env) *engine.Promise {
	if isVariable(env.Resolve(t)) {
		return engine.Error(errorf("functor/3 needs a term"))
	}
	return engine.Functor(vm, t, name, arity, k, env)
}

// newVM returns an interpreter with the builtins and operators, and no clauses.
func newVM(builtins []builtin) *engine.VM {
	vm := new(engine.VM)
	for _, b := range builtins {
		switch p := b.predicate.(type) {
		case func(*engine.VM, engine.Cont, *engine.Env) *engine.Promise:
			vm.Register0(b.name, p)
		case func(*engine.VM, engine.Term, engine.Cont, *engine.Env) *engine.Promise:
			vm.Register1(b.name, p)
		case func(*engine.VM, engine.Term, engine.Term, engine.Cont, *engine.Env) *engine.Promise:
			vm.Register2(b.name, p)
		case engine.Predicate2:
			vm.Register2(b.name, p)
		case func(*engine.VM, engine.Term, engine.Term, engine.Term, engine.Cont, *engine.Env) *engine.Promise:
			vm.Register3(b.name, p)
		case engine.Predicate3:
			vm.Register3(b.name, p)
		case func(*engine.VM, engine.Term, engine.Term, engine.Term, engine.Term, engine.Cont, *engine.Env) *engine.Promise:
			vm.Register4(b.name, p)
		case func(*engine.VM, engine.Term, engine.Term, engine.Term, engine.Term, engine.Term, engine.Cont, *engine.Env) *engine.Promise:
			vm.Register5(b.name, p)
		}
	}
	return vm
}
