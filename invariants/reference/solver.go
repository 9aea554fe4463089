package reference

import (
	"context"

	"github.com/ichiban/prolog/engine"

	"fsward/invariants/syntax"
)

// solver runs goals on the library's interpreter.
type solver struct {
	budget          *budget
	vm              *engine.VM
	depth, maxDepth int // goals of clauses on the current branch of the proof
}

// step implements '$step'/0, the first goal of every clause of rule text. It bounds recursion,
// which could be endless and fill memory. The depth decreases when backtracking leaves the clause.
func (s *solver) step(_ *engine.VM, k engine.Cont, env *engine.Env) *engine.Promise {
	if err := s.budget.spend(1); err != nil {
		return engine.Error(err)
	}
	depth := s.depth
	if depth >= s.maxDepth {
		return engine.Error(syntax.RuleErrorf("a chain of more than %d goals: endless recursion?",
			s.maxDepth))
	}
	return engine.Delay(func(context.Context) *engine.Promise {
		s.depth = depth + 1
		return k(env)
	}, func(context.Context) *engine.Promise {
		s.depth = depth
		return engine.Bool(false)
	})
}

// solutions tries the environments that next returns one after the other, on backtracking.
func (s *solver) solutions(k engine.Cont, next func() (*engine.Env, bool, error)) *engine.Promise {
	depth := s.depth
	// The library keeps a promise on its stack until all its alternatives were tried. One promise
	// for each solution would pile up, so a promise has several alternatives, and the last one
	// makes the next promise.
	exhausted := false
	try := func(context.Context) *engine.Promise {
		if exhausted {
			return engine.Bool(false)
		}
		s.depth = depth
		env, ok, err := next()
		if err != nil {
			return engine.Error(err)
		}
		if !ok {
			exhausted = true
			return engine.Bool(false)
		}
		return k(env)
	}
	var alternatives func(n int) *engine.Promise
	alternatives = func(n int) *engine.Promise {
		list := make([]func(context.Context) *engine.Promise, n, n+1)
		for i := range list {
			list[i] = try
		}
		return engine.Delay(append(list, func(context.Context) *engine.Promise {
			if exhausted {
				return engine.Bool(false)
			}
			return alternatives(min(2*n, 1024))
		})...)
	}
	return alternatives(2)
}

// solve runs a goal that is a term. The library's own call/1 would compile the goal each time.
func (s *solver) solve(goal engine.Term, k engine.Cont, env *engine.Env) *engine.Promise {
	switch g := env.Resolve(goal).(type) {
	case engine.Atom:
		if g == syntax.AtomCut { // call(!) cuts nothing outside itself
			return k(env)
		}
		return s.vm.Arrive(g, nil, k, env)
	case engine.Compound:
		if g.Functor() == syntax.AtomComma && g.Arity() == 2 {
			return s.solve(g.Arg(0), func(env *engine.Env) *engine.Promise {
				return s.solve(g.Arg(1), k,
					env)
			}, env)
		}
		args := make([]engine.Term, g.Arity())
		for i := range args {
			args[i] = g.Arg(i)
		}
		return s.vm.Arrive(g.Functor(), args, k, env)
	case engine.Variable:
		return engine.Error(syntax.RuleErrorf("a goal that is a variable without a value"))
	default:
		return engine.Error(syntax.RuleErrorf("%s is not a goal", syntax.TermText(g, env)))
	}
}

// once finds the first solution of a goal; ok is false if it has none.
func (s *solver) once(ctx context.Context, goal engine.Term,
	env *engine.Env) (first *engine.Env, ok bool, err error) {
	depth := s.depth
	ok, err = s.solve(goal, func(env *engine.Env) *engine.Promise {
		first = env
		return engine.Bool(true)
	}, env).Force(ctx)
	s.depth = depth
	return first, ok, err
}

// each finds all solutions of a goal.
func (s *solver) each(ctx context.Context, goal engine.Term, env *engine.Env,
	do func(*engine.Env) error) error {
	depth := s.depth
	_, err := s.solve(goal, func(env *engine.Env) *engine.Promise {
		if err := do(env); err != nil {
			return engine.Error(err)
		}
		return engine.Bool(false)
	}, env).Force(ctx)
	s.depth = depth
	return err
}
