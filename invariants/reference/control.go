package reference

import (
	"context"

	"github.com/ichiban/prolog/engine"

	"fsward/invariants/syntax"
)

// control holds the builtins that call goals.
type control struct {
	budget     *budget
	solver     *solver
	arithmetic *arithmetic
	held       map[string]struct{} // properties that verify/1 found to hold
	kept       map[string][]engine.Term
}

// conjunction implements (,)/2 inside goals that are terms.
func (ct *control) conjunction(_ *engine.VM, a, b engine.Term, k engine.Cont,
	env *engine.Env) *engine.Promise {
	return ct.solver.solve(a, func(env *engine.Env) *engine.Promise {
		return ct.solver.solve(b, k,
			env)
	}, env)
}

// or implements (;)/2, with if-then-else.
func (ct *control) or(_ *engine.VM, a, b engine.Term, k engine.Cont,
	env *engine.Env) *engine.Promise {
	if c, ok := env.Resolve(a).(engine.Compound); ok && c.Functor() == syntax.AtomThen &&
		c.Arity() == 2 {
		return engine.Delay(func(ctx context.Context) *engine.Promise {
			first, ok, err := ct.solver.once(ctx, c.Arg(0), env)
			switch {
			case err != nil:
				return engine.Error(err)
			case ok:
				return ct.solver.solve(c.Arg(1), k, first)
			default:
				return ct.solver.solve(b, k, env)
			}
		})
	}
	depth := ct.solver.depth
	return engine.Delay(func(context.Context) *engine.Promise {
		return ct.solver.solve(a, k, env)
	}, func(context.Context) *engine.Promise {
		ct.solver.depth = depth
		return ct.solver.solve(b, k, env)
	})
}

// ifThen implements (->)/2 without else.
func (ct *control) ifThen(_ *engine.VM, condition, then engine.Term, k engine.Cont,
	env *engine.Env) *engine.Promise {
	return engine.Delay(func(ctx context.Context) *engine.Promise {
		first, ok, err := ct.solver.once(ctx, condition, env)
		if err != nil {
			return engine.Error(err)
		}
		if !ok {
			return engine.Bool(false)
		}
		return ct.solver.solve(then, k, first)
	})
}

// not implements (\+)/1.
func (ct *control) not(_ *engine.VM, goal engine.Term, k engine.Cont,
	env *engine.Env) *engine.Promise {
	return engine.Delay(func(ctx context.Context) *engine.Promise {
		_, ok, err := ct.solver.once(ctx, goal, env)
		if err != nil {
			return engine.Error(err)
		}
		if ok {
			return engine.Bool(false)
		}
		return k(env)
	})
}

// forall implements forall(CONDITION, GOAL): GOAL holds for every solution of CONDITION.
func (ct *control) forall(_ *engine.VM, condition, goal engine.Term, k engine.Cont,
	env *engine.Env) *engine.Promise {
	return ct.not(nil, syntax.AtomComma.Apply(condition, syntax.AtomNot.Apply(goal)), k, env)
}

// call implements call/N: it calls a goal with further arguments.
func (ct *control) call(closure engine.Term, more []engine.Term, k engine.Cont,
	env *engine.Env) *engine.Promise {
	switch c := env.Resolve(closure).(type) {
	case engine.Atom:
		return ct.solver.solve(c.Apply(more...), k, env)
	case engine.Compound:
		args := make([]engine.Term, 0, c.Arity()+len(more))
		for i := range c.Arity() {
			args = append(args, c.Arg(i))
		}
		return ct.solver.solve(c.Functor().Apply(append(args, more...)...), k, env)
	default:
		return ct.solver.solve(c, k, env) // solve reports what is wrong
	}
}

// count implements count(GOAL, N): N is the number of solutions of GOAL. Variables in GOAL stay
// unbound.
func (ct *control) count(_ *engine.VM, goal, n engine.Term, k engine.Cont,
	env *engine.Env) *engine.Promise {
	return engine.Delay(func(ctx context.Context) *engine.Promise {
		total := engine.Integer(0)
		err := ct.solver.each(ctx, goal, env, func(
			*engine.Env) error {
			total++
			return ct.budget.spend(1)
		})
		if err != nil {
			return engine.Error(err)
		}
		e, ok := env.Unify(n, total)
		if !ok {
			return engine.Bool(false)
		}
		return k(e)
	})
}

// sum implements sum(EXPRESSION, GOAL, S): S is the sum of EXPRESSION over all solutions of GOAL; 0
// if there is none.
func (ct *control) sum(_ *engine.VM, expression, goal, s engine.Term, k engine.Cont,
	env *engine.Env) *engine.Promise {
	return engine.Delay(func(ctx context.Context) *engine.Promise {
		var total syntax.Number
		err := ct.solver.each(ctx, goal, env, func(e *engine.Env) error {
			x, err := ct.arithmetic.evaluate(expression, e)
			if err != nil {
				return err
			}
			total = total.Add(x)
			return ct.budget.spend(1)
		})
		if err != nil {
			return engine.Error(err)
		}
		e, ok := env.Unify(s, total.Term())
		if !ok {
			return engine.Bool(false)
		}
		return k(e)
	})
}

// findall implements findall(TEMPLATE, GOAL, LIST).
func (ct *control) findall(_ *engine.VM, template, goal, list engine.Term, k engine.Cont,
	env *engine.Env) *engine.Promise {
	return engine.FindAll(ct.solver.vm, template, goal, list, k, env)
}

// between implements between(LOW, HIGH, X).
func (ct *control) between(_ *engine.VM, low, high, x engine.Term, k engine.Cont,
	env *engine.Env) *engine.Promise {
	lo, err := ct.arithmetic.evaluate(low, env)
	if err != nil {
		return engine.Error(err)
	}
	hi, err := ct.arithmetic.evaluate(high, env)
	if err != nil {
		return engine.Error(err)
	}
	return ct.solver.solutions(k, func() (*engine.Env, bool, error) {
		for lo.Cmp(hi) <= 0 {
			if err := ct.budget.spend(1); err != nil {
				return nil, false, err
			}
			e, ok := env.Unify(x, lo.Term())
			lo = lo.Add(syntax.Number{Small: 1})
			if ok {
				return e, true, nil
			}
		}
		return nil, false, nil
	})
}

func unless(fails bool, k engine.Cont, env *engine.Env) *engine.Promise {
	if fails {
		return engine.Bool(false)
	}
	return k(env)
}
