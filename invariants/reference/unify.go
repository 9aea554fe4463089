package reference

import (
	"fsward/invariants/syntax"

	"github.com/ichiban/prolog/engine"
)

// unification holds the builtins that make terms equal.
type unification struct{ budget *budget }

// unify implements (=)/2 with the occurs check: a term that contains itself could never be compared
// or written. Each part that it looks at costs a step.
func (u *unification) unify(_ *engine.VM, x, y engine.Term, k engine.Cont,
	env *engine.Env) *engine.Promise {
	env, ok, err := u.unifyTerms(x, y, env)
	if err != nil {
		return engine.Error(err)
	}
	if !ok {
		return engine.Bool(false)
	}
	return k(env)
}

func (u *unification) unifyTerms(x, y engine.Term,
	env *engine.Env) (_ *engine.Env, ok bool, err error) {
	if err := u.budget.spend(1); err != nil {
		return env, false, err
	}
	x, y = env.Resolve(x), env.Resolve(y)
	if syntax.IsVariable(y) {
		x, y = y, x
	}
	if syntax.IsVariable(x) {
		inside, err := u.occurs(x, y, env)
		if err != nil || inside {
			return env, x == y, err
		}
		env, ok = env.Unify(x, y)
		return env, ok, nil
	}
	c, isC := x.(engine.Compound)
	d, isD := y.(engine.Compound)
	if !isC || !isD {
		env, ok = env.Unify(x, y)
		return env, ok, nil
	}
	if c.Functor() != d.Functor() || c.Arity() != d.Arity() {
		return env, false, nil
	}
	for i := range c.Arity() {
		if env, ok, err = u.unifyTerms(c.Arg(i), d.Arg(i), env); err != nil || !ok {
			return env, false, err
		}
	}
	return env, true, nil
}

// occurs reports whether the variable v occurs in t.
func (u *unification) occurs(v, t engine.Term, env *engine.Env) (bool, error) {
	t = env.Resolve(t)
	c, ok := t.(engine.Compound)
	if !ok {
		return t == v, nil
	}
	for i := range c.Arity() {
		if err := u.budget.spend(1); err != nil {
			return false, err
		}
		if inside, err := u.occurs(v, c.Arg(i), env); err != nil || inside {
			return inside, err
		}
	}
	return false, nil
}

// differ implements (\\=)/2.
func (u *unification) differ(_ *engine.VM, x, y engine.Term, k engine.Cont,
	env *engine.Env) *engine.Promise {
	_, ok, err := u.unifyTerms(x, y, env)
	if err != nil {
		return engine.Error(err)
	}
	return unless(ok, k, env)
}
