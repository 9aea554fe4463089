package reference

import (
	"math"

	"github.com/ichiban/prolog/engine"

	"fsward/change"
	"fsward/invariants/ruleset"
	"fsward/invariants/syntax"
)

// ranges holds range/4 and range_down/4.
type ranges struct {
	input      *input
	budget     *budget
	solver     *solver
	arithmetic *arithmetic
}

// keyRange makes range/4 and range_down/4: the objects that match TREE and ID and lie between two
// bounds. The bounds are numbers, which bound the last number of an identifier whose other parts
// are known; or keys k(ID,KIND,SUB), in which an unbound part means the least or the greatest
// value.
func (r *ranges) keyRange(predicate string,
	down bool) func(*engine.VM, engine.Term, engine.Term, engine.Term, engine.Term, engine.Cont,
	*engine.Env) *engine.Promise {
	return func(_ *engine.VM, tree, id, low, high engine.Term, k engine.Cont,
		env *engine.Env) *engine.Promise {
		r.budget.last = lookup{predicate, tree, id, env}
		if err := r.budget.spend(1); err != nil {
			return engine.Error(err)
		}
		p, ok := r.input.vocabulary.Pattern(tree, id, r.input.txn.Names, env)
		if !ok {
			return engine.Bool(false)
		}
		if syntax.IsVariable(p.TreeTerm) {
			return engine.Error(syntax.RuleErrorf("%s needs a TREE", predicate))
		}
		keys, ok, err := r.rangeOf(predicate, &p, low, high, env)
		if err != nil {
			return engine.Error(err)
		}
		if !ok {
			return engine.Bool(false)
		}
		keys.Down = down
		collect := NewCollector()
		var objects []change.Object
		return r.solver.solutions(k, func() (*engine.Env, bool, error) {
			for {
				if len(objects) == 0 {
					var err error
					if objects, err = keys.Read(r.input.view, objects, collect); err != nil || len(objects) == 0 {
						return nil, false, err
					}
					if err := r.budget.spend(len(objects)); err != nil {
						return nil, false, err
					}
				}
				o := objects[0]
				objects = objects[1:]
				if !p.Matches(o) {
					continue
				}
				if e, ok := r.input.vocabulary.Unify(&p, o, r.input.txn.Names, env); ok {
					return e, true, nil
				}
			}
		})
	}
}

// rangeOf reads the bounds of a range.
func (r *ranges) rangeOf(predicate string, p *ruleset.Pattern, low, high engine.Term,
	env *engine.Env) (k KeyRange, ok bool, err error) {
	if isKey(low, env) && isKey(high, env) && !r.input.vocabulary.Schema.KindIsTree {
		if k.Lo, err = r.bound(predicate, low, 0, env); err != nil {
			return k, false, err
		}
		if k.Hi, err = r.bound(predicate, high, math.MaxUint64, env); err != nil {
			return k, false, err
		}
		k.Lo.Tree, k.Hi.Tree = p.Tree.N, p.Tree.N
		return k, k.Lo.Compare(k.Hi) <= 0, nil
	}
	lo, err := r.arithmetic.evaluate(low, env)
	if err != nil {
		return k, false, err
	}
	hi, err := r.arithmetic.evaluate(high, env)
	if err != nil {
		return k, false, err
	}
	if p.Kind == 0 || !p.ID.Bound && r.input.vocabulary.Shape(p.Kind) != change.ShapeNum {
		return k, false, syntax.RuleErrorf(
			"%s needs all of %s but its last number, or two keys as bounds", predicate,
			syntax.TermText(p.IDTerm, env))
	}
	first, last, ok := Interval(lo, hi)
	if !ok {
		return k, false, nil
	}
	if k, ok = RangeBetween(r.input.vocabulary,
		change.Object{Tree: p.Tree.N, ID: p.ID.N, Kind: p.Kind}, first, last, false); !ok {
		return k, false, syntax.RuleErrorf("%s: names have no order", predicate)
	}
	return k, true, nil
}

func isKey(t engine.Term, env *engine.Env) bool {
	return syntax.IsFunctor(env.Resolve(t), syntax.AtomK, 3)
}

// bound reads a key that bounds a range; open is the value of an unbound part.
func (r *ranges) bound(predicate string, t engine.Term, open uint64,
	env *engine.Env) (o change.Object, err error) {
	key := env.Resolve(t).(engine.Compound)
	bad := func() (change.Object, error) {
		return o, syntax.RuleErrorf("%s: %s is not a bound", predicate, syntax.TermText(key, env))
	}
	number := func(t engine.Term) (uint64, bool) {
		if t = env.Resolve(t); syntax.IsVariable(t) {
			return open, true
		}
		return syntax.IDBits(t)
	}
	var ok1, ok2 bool
	o.ID, ok1 = number(key.Arg(0))
	o.Sub, ok2 = number(key.Arg(2))
	o.Kind, o.Aux = change.Kind(open), open
	if kind := env.Resolve(key.Arg(1)); !syntax.IsVariable(kind) {
		atom, isAtom := kind.(engine.Atom)
		k, known := r.input.vocabulary.Kinds[atom]
		if !isAtom || !known {
			return bad()
		}
		o.Kind = k
	}
	if !ok1 || !ok2 {
		return bad()
	}
	return o, nil
}
