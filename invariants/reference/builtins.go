package reference

import (
	"slices"

	"github.com/ichiban/prolog/engine"

	"fsward/invariants/syntax"
)

// A builtin is the function of a predicate that rules may call: see ruleset.Builtins.
type builtin struct {
	syntax.Indicator
	predicate any // engine.Predicate0 to engine.Predicate5, or the plain function of one
}

// builtins returns the functions of all predicates of ruleset.Builtins.
func (r *interpreter) builtins() []builtin {
	list := slices.Concat(r.dataBuiltins(), r.controlBuiltins())
	for name, holds := range syntax.NumberOrders {
		list = append(list, builtin{syntax.Pred(name, 2), r.arithmetic.comparison(name, holds)})
	}
	for name, holds := range syntax.TermOrders {
		list = append(list, builtin{syntax.Pred(name, 2),
			func(_ *engine.VM, x, y engine.Term, k engine.Cont, env *engine.Env) *engine.Promise {
				return unless(!holds(env.Resolve(x).Compare(y, env)), k, env)
			}})
	}
	for name, is := range syntax.TermTests {
		list = append(list, builtin{syntax.Pred(name, 1),
			func(_ *engine.VM, x engine.Term, k engine.Cont, env *engine.Env) *engine.Promise {
				return unless(!is(env.Resolve(x)), k, env)
			}})
	}
	return list
}

// dataBuiltins returns the predicates that query records and objects, compute, and inspect terms.
func (r *interpreter) dataBuiltins() []builtin {
	return []builtin{
		// Records and state.
		{syntax.Pred("change", 5), r.records.change},
		{syntax.Pred("query", 2), r.state.query2},
		{syntax.Pred("query", 4), r.state.query4},
		{syntax.Pred("previous", 3), r.state.neighbor("previous/3", Walks["previous"])},
		{syntax.Pred("next", 3), r.state.neighbor("next/3", Walks["next"])},
		{syntax.Pred("at_or_before", 3), r.state.neighbor("at_or_before/3", Walks["at_or_before"])},
		{syntax.Pred("at_or_after", 3), r.state.neighbor("at_or_after/3", Walks["at_or_after"])},
		{syntax.Pred("range", 4), r.ranges.keyRange("range/4", false)},
		{syntax.Pred("range_down", 4), r.ranges.keyRange("range_down/4", true)},
		{syntax.Pred("crc32c", 2), r.records.crc32c},
		{syntax.Pred("between", 3), r.control.between},
		// Unification.
		{syntax.Pred("=", 2), r.unification.unify},
		{syntax.Pred(`\=`, 2), r.unification.differ},
		// Arithmetic.
		{syntax.Pred("is", 2), r.arithmetic.is},
		// Inspection of terms.
		{syntax.Pred("arg", 3), engine.Arg},
		{syntax.Pred("=..", 2), engine.Univ},
		{syntax.Pred("functor", 3), functor},
	}
}

// controlBuiltins returns the predicates that call goals.
func (r *interpreter) controlBuiltins() []builtin {
	return []builtin{
		// Control.
		{syntax.Pred("$step", 0), r.solver.step},
		{syntax.Pred("$holds", 1), r.control.holds},
		{syntax.Pred("$whole", 0), func(_ *engine.VM, k engine.Cont,
			env *engine.Env) *engine.Promise {
			return unless(!r.input.txn.Whole, k, env)
		}},
		{syntax.Pred("true", 0), func(_ *engine.VM, k engine.Cont,
			env *engine.Env) *engine.Promise {
			return k(env)
		}},
		{syntax.Pred("fail", 0), func(*engine.VM, engine.Cont,
			*engine.Env) *engine.Promise {
			return engine.Bool(false)
		}},
		{syntax.Pred("false", 0), func(*engine.VM, engine.Cont,
			*engine.Env) *engine.Promise {
			return engine.Bool(false)
		}},
		{syntax.Pred(",", 2), r.control.conjunction},
		{syntax.Pred(";", 2), r.control.or},
		{syntax.Pred("->", 2), r.control.ifThen},
		{syntax.Pred(`\+`, 1), r.control.not},
		{syntax.Pred("once", 1), r.control.first},
		{syntax.Pred("forall", 2), r.control.forall},
		{syntax.Pred("call", 1), func(_ *engine.VM, g engine.Term, k engine.Cont,
			env *engine.Env) *engine.Promise {
			return r.solver.solve(g, k, env)
		}},
		{syntax.Pred("call", 2), func(_ *engine.VM, g, a engine.Term, k engine.Cont,
			env *engine.Env) *engine.Promise {
			return r.control.call(g, []engine.Term{a}, k, env)
		}},
		{syntax.Pred("call", 3), func(_ *engine.VM, g, a, b engine.Term, k engine.Cont,
			env *engine.Env) *engine.Promise {
			return r.control.call(g, []engine.Term{a, b}, k, env)
		}},
		// Sets of solutions.
		{syntax.Pred("count", 2), r.control.count},
		{syntax.Pred("sum", 3), r.control.sum},
		{syntax.Pred("findall", 3), r.control.findall},
	}
}

// functor implements functor/3 for a known term: rules have no use for making terms of any arity.
func functor(vm *engine.VM, t, name, arity engine.Term, k engine.Cont,
	env *engine.Env) *engine.Promise {
	if syntax.IsVariable(env.Resolve(t)) {
		return engine.Error(syntax.RuleErrorf("functor/3 needs a term"))
	}
	return engine.Functor(vm, t, name, arity, k, env)
}

// newVM returns an interpreter with the builtins and no clauses.
func newVM(builtins []builtin) *engine.VM {
	vm := new(engine.VM)
	for _, b := range builtins {
		switch p := b.predicate.(type) {
		case func(*engine.VM, engine.Cont, *engine.Env) *engine.Promise:
			vm.Register0(b.Name, p)
		case func(*engine.VM, engine.Term, engine.Cont, *engine.Env) *engine.Promise:
			vm.Register1(b.Name, p)
		case func(*engine.VM, engine.Term, engine.Term, engine.Cont, *engine.Env) *engine.Promise:
			vm.Register2(b.Name, p)
		case engine.Predicate2:
			vm.Register2(b.Name, p)
		case func(*engine.VM, engine.Term, engine.Term, engine.Term, engine.Cont,
			*engine.Env) *engine.Promise:
			vm.Register3(b.Name, p)
		case engine.Predicate3:
			vm.Register3(b.Name, p)
		case func(*engine.VM, engine.Term, engine.Term, engine.Term, engine.Term, engine.Cont,
			*engine.Env) *engine.Promise:
			vm.Register4(b.Name, p)
		case func(*engine.VM, engine.Term, engine.Term, engine.Term, engine.Term, engine.Term,
			engine.Cont, *engine.Env) *engine.Promise:
			vm.Register5(b.Name, p)
		}
	}
	return vm
}
