package reference

import (
	"context"
	"fmt"

	"github.com/ichiban/prolog/engine"

	"fsward/change"
	"fsward/invariants/ruleset"
	"fsward/invariants/syntax"
)

// run is the state of one Check: what the foreign predicates read, and what they may still spend.
type run struct {
	vocabulary *ruleset.Vocabulary
	vm         *engine.VM

	ctx   context.Context
	txn   *change.Txn
	view  change.View
	index recordIndex

	steps, maxSteps int64 // of the rule that runs
	depth, maxDepth int   // goals of clauses on the branch of the proof that is being tried

	held        map[string]struct{} // properties that verify/1 found to hold
	reverse     map[ReverseKey]map[change.Value][]change.Object
	reverseSize int // objects in reverse
	hashed      NameIndex
	last        lookup
}

// A lookup is a goal that asked for records or objects: what a rule that needs too many steps was at.
type lookup struct {
	predicate string // NAME/ARITY; "" where there was none
	tree, id  engine.Term
	env       *engine.Env
}

func (l lookup) text() string {
	if l.predicate == "" {
		return ""
	}
	return fmt.Sprintf(", at %s of %s, %s", l.predicate, syntax.TermText(l.tree, l.env), syntax.TermText(l.id, l.env))
}

// A ViewError is a failure to read the state: the disk, not the rule.
type ViewError struct{ Err error }

func (e ViewError) Error() string { return "the state could not be read: " + e.Err.Error() }

func (e ViewError) Unwrap() error { return e.Err }

// spend counts steps: one for each clause entered, each primitive called, each record or object looked at.
// The count depends on the rule and the transaction alone, so a rule that exceeds its budget does so on
// every machine. The context is looked at as well, as the library does so only between its own steps.
func (r *run) spend(n int) error {
	before := r.steps
	r.steps += int64(n)
	if r.steps > r.maxSteps {
		return syntax.RuleErrorf("more than the %d steps that a transaction of %d records allows%s", r.maxSteps, len(r.txn.Records), r.last.text())
	}
	if before>>10 != r.steps>>10 {
		return r.ctx.Err()
	}
	return nil
}

// step is '$step'/0, the first goal of every clause of rule text. It bounds recursion, which could be
// endless and would otherwise fill memory. The depth goes back when the clause is left by backtracking.
func (r *run) step(_ *engine.VM, k engine.Cont, env *engine.Env) *engine.Promise {
	if err := r.spend(1); err != nil {
		return engine.Error(err)
	}
	depth := r.depth
	if depth >= r.maxDepth {
		return engine.Error(syntax.RuleErrorf("a chain of more than %d goals: endless recursion?", r.maxDepth))
	}
	return engine.Delay(func(context.Context) *engine.Promise {
		r.depth = depth + 1
		return k(env)
	}, func(context.Context) *engine.Promise {
		r.depth = depth
		return engine.Bool(false)
	})
}

// solutions tries the environments that next gives one after the other, as backtracking asks for them.
func (r *run) solutions(k engine.Cont, next func() (*engine.Env, bool, error)) *engine.Promise {
	depth := r.depth
	// The library keeps a promise on its stack until all its alternatives were tried. A promise for each
	// solution would pile up; so a promise has several alternatives, and the last one makes the next promise.
	exhausted := false
	try := func(context.Context) *engine.Promise {
		if exhausted {
			return engine.Bool(false)
		}
		r.depth = depth
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

// solve runs a goal that is a term. The library's own call/1 compiles the goal each time.
func (r *run) solve(goal engine.Term, k engine.Cont, env *engine.Env) *engine.Promise {
	switch g := env.Resolve(goal).(type) {
	case engine.Atom:
		if g == syntax.AtomCut { // call(!) cuts nothing outside itself
			return k(env)
		}
		return r.vm.Arrive(g, nil, k, env)
	case engine.Compound:
		if g.Functor() == syntax.AtomComma && g.Arity() == 2 {
			return r.solve(g.Arg(0), func(env *engine.Env) *engine.Promise { return r.solve(g.Arg(1), k, env) }, env)
		}
		args := make([]engine.Term, g.Arity())
		for i := range args {
			args[i] = g.Arg(i)
		}
		return r.vm.Arrive(g.Functor(), args, k, env)
	case engine.Variable:
		return engine.Error(syntax.RuleErrorf("a goal that is a variable without a value"))
	default:
		return engine.Error(syntax.RuleErrorf("%s is not a goal", syntax.TermText(g, env)))
	}
}

// once runs a goal to its first solution; ok is false if it has none.
func (r *run) once(ctx context.Context, goal engine.Term, env *engine.Env) (first *engine.Env, ok bool, err error) {
	depth := r.depth
	ok, err = r.solve(goal, func(env *engine.Env) *engine.Promise {
		first = env
		return engine.Bool(true)
	}, env).Force(ctx)
	r.depth = depth
	return first, ok, err
}

// each runs a goal through all its solutions.
func (r *run) each(ctx context.Context, goal engine.Term, env *engine.Env, do func(*engine.Env) error) error {
	depth := r.depth
	_, err := r.solve(goal, func(env *engine.Env) *engine.Promise {
		if err := do(env); err != nil {
			return engine.Error(err)
		}
		return engine.Bool(false)
	}, env).Force(ctx)
	r.depth = depth
	return err
}

// unify is (=)/2 with the occurs check: a term that contains itself could never be compared or written.
// Each part that is looked at is a step.
func (r *run) unify(_ *engine.VM, x, y engine.Term, k engine.Cont, env *engine.Env) *engine.Promise {
	env, ok, err := r.unifyTerms(x, y, env)
	if err != nil {
		return engine.Error(err)
	}
	if !ok {
		return engine.Bool(false)
	}
	return k(env)
}

func (r *run) unifyTerms(x, y engine.Term, env *engine.Env) (_ *engine.Env, ok bool, err error) {
	if err := r.spend(1); err != nil {
		return env, false, err
	}
	x, y = env.Resolve(x), env.Resolve(y)
	if syntax.IsVariable(y) {
		x, y = y, x
	}
	if syntax.IsVariable(x) {
		inside, err := r.occurs(x, y, env)
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
		if env, ok, err = r.unifyTerms(c.Arg(i), d.Arg(i), env); err != nil || !ok {
			return env, false, err
		}
	}
	return env, true, nil
}

// occurs tells whether the variable v stands in t.
func (r *run) occurs(v, t engine.Term, env *engine.Env) (bool, error) {
	t = env.Resolve(t)
	c, ok := t.(engine.Compound)
	if !ok {
		return t == v, nil
	}
	for i := range c.Arity() {
		if err := r.spend(1); err != nil {
			return false, err
		}
		if inside, err := r.occurs(v, c.Arg(i), env); err != nil || inside {
			return inside, err
		}
	}
	return false, nil
}

// differ is (\\=)/2.
func (r *run) differ(_ *engine.VM, x, y engine.Term, k engine.Cont, env *engine.Env) *engine.Promise {
	_, ok, err := r.unifyTerms(x, y, env)
	if err != nil {
		return engine.Error(err)
	}
	return unless(ok, k, env)
}
