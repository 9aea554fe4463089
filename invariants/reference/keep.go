package reference

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/ichiban/prolog/engine"

	"fsward/invariants/syntax"
)

// first implements once/1. The answer to a goal is kept for the rest of the transaction, as helpers
// have no side effects: a helper that calls itself twice would else take exponential time.
func (ct *control) first(_ *engine.VM, goal engine.Term, k engine.Cont,
	env *engine.Env) *engine.Promise {
	var key strings.Builder
	var open []engine.Variable
	keyed := writeKey(&key, goal, env, &open)
	if keyed {
		if answer, ok := ct.kept[key.String()]; ok {
			return answerWith(open, answer, k, env)
		}
	}
	return engine.Delay(func(ctx context.Context) *engine.Promise {
		first, ok, err := ct.solver.once(ctx, goal, env)
		if err != nil {
			return engine.Error(err)
		}
		if keyed && len(ct.kept) < maxKeptAnswers {
			ct.keep(key.String(), open, first, ok)
		}
		if !ok {
			return engine.Bool(false)
		}
		return k(first)
	})
}

// maxKeptAnswers bounds the answers that once/1 keeps.
const maxKeptAnswers = 1 << 20

// keep keeps the values of the open variables of a goal, if they are atomic; nil if the goal has no
// solution.
func (ct *control) keep(key string, open []engine.Variable, first *engine.Env, ok bool) {
	if !ok {
		ct.kept[key] = nil
		return
	}
	answer := make([]engine.Term, len(open))
	for i, v := range open {
		answer[i] = first.Resolve(v)
		switch answer[i].(type) {
		case engine.Variable, engine.Compound:
			return
		}
	}
	ct.kept[key] = answer
}

// answerWith continues with a kept answer.
func answerWith(open []engine.Variable, answer []engine.Term, k engine.Cont,
	env *engine.Env) *engine.Promise {
	if answer == nil {
		return engine.Bool(false)
	}
	for i, v := range open {
		e, ok := env.Unify(v, answer[i])
		if !ok {
			return engine.Bool(false)
		}
		env = e
	}
	return k(env)
}

// holds implements '$holds'/1, on which verify/1 is built: GOAL has a solution. A goal without
// variables that held once in this transaction is not run again.
func (ct *control) holds(_ *engine.VM, goal engine.Term, k engine.Cont,
	env *engine.Env) *engine.Promise {
	var key strings.Builder
	ground := writeKey(&key, goal, env, nil)
	if ground {
		if _, ok := ct.held[key.String()]; ok {
			return k(env)
		}
	}
	return engine.Delay(func(ctx context.Context) *engine.Promise {
		_, ok, err := ct.solver.once(ctx, goal, env)
		if err != nil {
			return engine.Error(err)
		}
		if !ok {
			return engine.Bool(false)
		}
		if ground {
			ct.held[key.String()] = struct{}{}
		}
		return k(env)
	})
}

// maxKeyLen bounds the text of a goal whose answer is kept, in bytes.
const maxKeyLen = 4096

// writeKey writes a term so that different terms give different texts. It appends the variables in
// it to open; if open is nil, there may be none. It reports false if the term cannot be kept.
func writeKey(b *strings.Builder, t engine.Term, env *engine.Env, open *[]engine.Variable) bool {
	if b.Len() > maxKeyLen {
		return false
	}
	switch t := env.Resolve(t).(type) {
	case engine.Variable:
		if open == nil {
			return false
		}
		i := slices.Index(*open, t)
		if i < 0 {
			i = len(*open)
			*open = append(*open, t)
		}
		fmt.Fprintf(b, "v%d", i)
	case engine.Compound:
		fmt.Fprintf(b, "c%d/%d", t.Functor(), t.Arity())
		for i := range t.Arity() {
			b.WriteByte(' ')
			if !writeKey(b, t.Arg(i), env, open) {
				return false
			}
		}
	case engine.Atom:
		fmt.Fprintf(b, "a%d", t)
	case syntax.Name:
		fmt.Fprintf(b, "n%d:%s", len(t), string(t))
	default:
		fmt.Fprintf(b, "%v", t)
	}
	return true
}
