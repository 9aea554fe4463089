package invariants

import (
	"github.com/ichiban/prolog/engine"
)

// A builtin is the function of a predicate that rules may call: see ruleset.Builtins.
type builtin struct {
	indicator
	predicate any // engine.Predicate0 to engine.Predicate5, or the plain function of one
}

// builtins lists the predicates of the interpreter.
func (r *run) builtins() []builtin {
	list := []builtin{
		// Records and state.
		{pi("change", 5), r.change},
		{pi("query", 2), r.query2},
		{pi("query", 4), r.query4},
		{pi("previous", 3), r.neighbour("previous/3", walks["previous"])},
		{pi("next", 3), r.neighbour("next/3", walks["next"])},
		{pi("at_or_before", 3), r.neighbour("at_or_before/3", walks["at_or_before"])},
		{pi("at_or_after", 3), r.neighbour("at_or_after/3", walks["at_or_after"])},
		{pi("range", 4), r.keyRange("range/4", false)},
		{pi("range_down", 4), r.keyRange("range_down/4", true)},
		{pi("crc32c", 2), r.crc32c},
		// Control.
		{pi("$step", 0), r.step},
		{pi("$holds", 1), r.holds},
		{pi("true", 0), func(_ *engine.VM, k engine.Cont, env *engine.Env) *engine.Promise { return k(env) }},
		{pi("fail", 0), func(*engine.VM, engine.Cont, *engine.Env) *engine.Promise { return engine.Bool(false) }},
		{pi("false", 0), func(*engine.VM, engine.Cont, *engine.Env) *engine.Promise { return engine.Bool(false) }},
		{pi(",", 2), r.conjunction},
		{pi(";", 2), r.or},
		{pi("->", 2), r.ifThen},
		{pi(`\+`, 1), r.not},
		{pi("once", 1), r.first},
		{pi("forall", 2), r.forall},
		{pi("call", 1), func(_ *engine.VM, g engine.Term, k engine.Cont, env *engine.Env) *engine.Promise {
			return r.solve(g, k, env)
		}},
		{pi("call", 2), func(_ *engine.VM, g, a engine.Term, k engine.Cont, env *engine.Env) *engine.Promise {
			return r.call(g, []engine.Term{a}, k, env)
		}},
		{pi("call", 3), func(_ *engine.VM, g, a, b engine.Term, k engine.Cont, env *engine.Env) *engine.Promise {
			return r.call(g, []engine.Term{a, b}, k, env)
		}},
		// Sets of solutions.
		{pi("count", 2), r.count},
		{pi("sum", 3), r.sum},
		{pi("findall", 3), r.findall},
		{pi("between", 3), r.between},
		// Unification.
		{pi("=", 2), r.unify},
		{pi(`\=`, 2), r.differ},
		// Arithmetic.
		{pi("is", 2), r.is},
		// Inspection of terms.
		{pi("arg", 3), engine.Arg},
		{pi("=..", 2), engine.Univ},
		{pi("functor", 3), functor},
	}
	for name, holds := range numberOrders {
		list = append(list, builtin{pi(name, 2), r.comparison(name, holds)})
	}
	for name, holds := range termOrders {
		list = append(list, builtin{pi(name, 2), func(_ *engine.VM, x, y engine.Term, k engine.Cont, env *engine.Env) *engine.Promise {
			return unless(!holds(env.Resolve(x).Compare(y, env)), k, env)
		}})
	}
	for name, is := range termTests {
		list = append(list, builtin{pi(name, 1), func(_ *engine.VM, x engine.Term, k engine.Cont, env *engine.Env) *engine.Promise {
			return unless(!is(env.Resolve(x)), k, env)
		}})
	}
	return list
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
