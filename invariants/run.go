package invariants

import (
	"context"
	"fmt"
	"strings"

	"github.com/ichiban/prolog/engine"

	"fsward/change"
)

// run is the state of one Check: what the foreign predicates read, and what they may still spend.
type run struct {
	vocabulary *vocabulary
	vm         *engine.VM

	ctx   context.Context
	txn   *change.Txn
	view  change.View
	index recordIndex

	steps, maxSteps int64 // of the rule that runs
	depth, maxDepth int   // goals of clauses on the branch of the proof that is being tried

	held        map[string]struct{} // properties that verify/1 found to hold
	reverse     map[reverseKey]map[change.Value][]change.Object
	reverseSize int // objects in reverse
}

// A viewError is a failure to read the state: the disk, not the rule.
type viewError struct{ err error }

func (e viewError) Error() string { return "the state could not be read: " + e.err.Error() }
func (e viewError) Unwrap() error { return e.err }

// spend counts steps: one for each clause entered, each primitive called, each record or object looked at.
// The count depends on the rule and the transaction alone, so a rule that exceeds its budget does so on
// every machine. The context is looked at as well, as the library does so only between its own steps.
func (r *run) spend(n int) error {
	before := r.steps
	r.steps += int64(n)
	if r.steps > r.maxSteps {
		return errorf("more than the %d steps that a transaction of %d records allows", r.maxSteps, len(r.txn.Records))
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
		return engine.Error(errorf("a chain of more than %d goals: endless recursion?", r.maxDepth))
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
		if g == atomCut { // call(!) cuts nothing outside itself
			return k(env)
		}
		return r.vm.Arrive(g, nil, k, env)
	case engine.Compound:
		if g.Functor() == atomComma && g.Arity() == 2 {
			return r.solve(g.Arg(0), func(env *engine.Env) *engine.Promise { return r.solve(g.Arg(1), k, env) }, env)
		}
		args := make([]engine.Term, g.Arity())
		for i := range args {
			args[i] = g.Arg(i)
		}
		return r.vm.Arrive(g.Functor(), args, k, env)
	case engine.Variable:
		return engine.Error(errorf("a goal that is a variable without a value"))
	default:
		return engine.Error(errorf("%s is not a goal", termText(g, env)))
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
	if isVariable(y) {
		x, y = y, x
	}
	if isVariable(x) {
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

// conjunction is (,)/2, where a goal that is a term has it.
func (r *run) conjunction(_ *engine.VM, a, b engine.Term, k engine.Cont, env *engine.Env) *engine.Promise {
	return r.solve(a, func(env *engine.Env) *engine.Promise { return r.solve(b, k, env) }, env)
}

// or is (;)/2, with if-then-else.
func (r *run) or(_ *engine.VM, a, b engine.Term, k engine.Cont, env *engine.Env) *engine.Promise {
	if c, ok := env.Resolve(a).(engine.Compound); ok && c.Functor() == atomThen && c.Arity() == 2 {
		return engine.Delay(func(ctx context.Context) *engine.Promise {
			first, ok, err := r.once(ctx, c.Arg(0), env)
			switch {
			case err != nil:
				return engine.Error(err)
			case ok:
				return r.solve(c.Arg(1), k, first)
			default:
				return r.solve(b, k, env)
			}
		})
	}
	depth := r.depth
	return engine.Delay(func(context.Context) *engine.Promise {
		return r.solve(a, k, env)
	}, func(context.Context) *engine.Promise {
		r.depth = depth
		return r.solve(b, k, env)
	})
}

// ifThen is (->)/2 without else.
func (r *run) ifThen(_ *engine.VM, condition, then engine.Term, k engine.Cont, env *engine.Env) *engine.Promise {
	return engine.Delay(func(ctx context.Context) *engine.Promise {
		first, ok, err := r.once(ctx, condition, env)
		if err != nil {
			return engine.Error(err)
		}
		if !ok {
			return engine.Bool(false)
		}
		return r.solve(then, k, first)
	})
}

// not is (\+)/1.
func (r *run) not(_ *engine.VM, goal engine.Term, k engine.Cont, env *engine.Env) *engine.Promise {
	return engine.Delay(func(ctx context.Context) *engine.Promise {
		_, ok, err := r.once(ctx, goal, env)
		if err != nil {
			return engine.Error(err)
		}
		if ok {
			return engine.Bool(false)
		}
		return k(env)
	})
}

// first is once/1.
func (r *run) first(_ *engine.VM, goal engine.Term, k engine.Cont, env *engine.Env) *engine.Promise {
	return engine.Delay(func(ctx context.Context) *engine.Promise {
		first, ok, err := r.once(ctx, goal, env)
		if err != nil {
			return engine.Error(err)
		}
		if !ok {
			return engine.Bool(false)
		}
		return k(first)
	})
}

// forall is forall(CONDITION, GOAL): GOAL holds for every solution of CONDITION.
func (r *run) forall(_ *engine.VM, condition, goal engine.Term, k engine.Cont, env *engine.Env) *engine.Promise {
	return r.not(nil, atomComma.Apply(condition, atomNot.Apply(goal)), k, env)
}

// call is call/N: a goal with further arguments.
func (r *run) call(closure engine.Term, more []engine.Term, k engine.Cont, env *engine.Env) *engine.Promise {
	switch c := env.Resolve(closure).(type) {
	case engine.Atom:
		return r.solve(c.Apply(more...), k, env)
	case engine.Compound:
		args := make([]engine.Term, 0, c.Arity()+len(more))
		for i := range c.Arity() {
			args = append(args, c.Arg(i))
		}
		return r.solve(c.Functor().Apply(append(args, more...)...), k, env)
	default:
		return r.solve(c, k, env) // which says what is wrong
	}
}

// holds is '$holds'/1, which verify/1 is made of: GOAL has a solution. A goal without variables that held
// once in this transaction is not run again.
func (r *run) holds(_ *engine.VM, goal engine.Term, k engine.Cont, env *engine.Env) *engine.Promise {
	var key strings.Builder
	ground := writeKey(&key, goal, env)
	if ground {
		if _, ok := r.held[key.String()]; ok {
			return k(env)
		}
	}
	return engine.Delay(func(ctx context.Context) *engine.Promise {
		_, ok, err := r.once(ctx, goal, env)
		if err != nil {
			return engine.Error(err)
		}
		if !ok {
			return engine.Bool(false)
		}
		if ground {
			r.held[key.String()] = struct{}{}
		}
		return k(env)
	})
}

// maxKeyLen bounds the text of a goal that is kept by verify/1.
const maxKeyLen = 4096

// writeKey writes a term so that different terms give different text; it reports false if the term has a
// variable in it or is too large to keep.
func writeKey(b *strings.Builder, t engine.Term, env *engine.Env) bool {
	if b.Len() > maxKeyLen {
		return false
	}
	switch t := env.Resolve(t).(type) {
	case engine.Variable:
		return false
	case engine.Compound:
		fmt.Fprintf(b, "c%d/%d", t.Functor(), t.Arity())
		for i := range t.Arity() {
			b.WriteByte(' ')
			if !writeKey(b, t.Arg(i), env) {
				return false
			}
		}
	case engine.Atom:
		fmt.Fprintf(b, "a%d", t)
	case name:
		fmt.Fprintf(b, "n%d:%s", len(t), string(t))
	default:
		fmt.Fprintf(b, "%v", t)
	}
	return true
}

// count is count(GOAL, N): N is the number of solutions of GOAL. Variables in GOAL stay free.
func (r *run) count(_ *engine.VM, goal, n engine.Term, k engine.Cont, env *engine.Env) *engine.Promise {
	return engine.Delay(func(ctx context.Context) *engine.Promise {
		total := engine.Integer(0)
		err := r.each(ctx, goal, env, func(*engine.Env) error { total++; return r.spend(1) })
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

// sum is sum(EXPRESSION, GOAL, S): S is the sum of EXPRESSION over all solutions of GOAL; 0 if none.
func (r *run) sum(_ *engine.VM, expression, goal, s engine.Term, k engine.Cont, env *engine.Env) *engine.Promise {
	return engine.Delay(func(ctx context.Context) *engine.Promise {
		var total number
		err := r.each(ctx, goal, env, func(e *engine.Env) error {
			x, err := r.evaluate(expression, e)
			if err != nil {
				return err
			}
			total = total.add(x)
			return r.spend(1)
		})
		if err != nil {
			return engine.Error(err)
		}
		e, ok := env.Unify(s, total.term())
		if !ok {
			return engine.Bool(false)
		}
		return k(e)
	})
}

// findall is findall(TEMPLATE, GOAL, LIST).
func (r *run) findall(_ *engine.VM, template, goal, list engine.Term, k engine.Cont, env *engine.Env) *engine.Promise {
	return engine.FindAll(r.vm, template, goal, list, k, env)
}

// between is between(LOW, HIGH, X).
func (r *run) between(_ *engine.VM, low, high, x engine.Term, k engine.Cont, env *engine.Env) *engine.Promise {
	lo, err := r.evaluate(low, env)
	if err != nil {
		return engine.Error(err)
	}
	hi, err := r.evaluate(high, env)
	if err != nil {
		return engine.Error(err)
	}
	return r.solutions(k, func() (*engine.Env, bool, error) {
		for lo.cmp(hi) <= 0 {
			if err := r.spend(1); err != nil {
				return nil, false, err
			}
			e, ok := env.Unify(x, lo.term())
			lo = lo.add(number{small: 1})
			if ok {
				return e, true, nil
			}
		}
		return nil, false, nil
	})
}
