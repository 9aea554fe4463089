package reference

import (
	"math"

	"github.com/ichiban/prolog/engine"

	"fsward/change"
	"fsward/invariants/ruleset"
	"fsward/invariants/syntax"
)

// state holds the builtins that query objects as they are after the transaction.
type state struct {
	input       *input
	budget      *budget
	solver      *solver
	reverse     map[ReverseKey]map[change.Value][]change.Object
	reverseSize int // number of objects in reverse
}

// MaxReverse bounds the objects in the reverse indexes of one transaction; beyond it, queries scan.
const MaxReverse = 1 << 18

// A ReverseKey names a set of objects with one id and kind, such as the entries of a directory, and
// a field. If OfSub is true, it names those with one key, or of one pair's first number, Sub.
type ReverseKey struct {
	Tree, ID uint64
	Kind     change.Kind
	Field    change.Field
	Sub      uint64
	OfSub    bool
}

// query2 implements query(TREE, ID), modes 3 to 5 of thesis table 3.1: the objects that exist after
// the transaction. TREE and the object id must be known.
func (s *state) query2(_ *engine.VM, tree, id engine.Term, k engine.Cont,
	env *engine.Env) *engine.Promise {
	p, ok, err := s.statePattern("query/2", tree, id, env)
	if err != nil {
		return engine.Error(err)
	}
	if !ok {
		return engine.Bool(false)
	}
	if o, ok := s.input.vocabulary.Single(&p); ok {
		exists, err := s.input.view.Exists(o)
		if err != nil {
			return engine.Error(ViewError{err})
		}
		if !exists {
			return engine.Bool(false)
		}
		e, ok := s.input.vocabulary.Unify(&p, o, s.input.txn.Names, env)
		if !ok {
			return engine.Bool(false)
		}
		return k(e)
	}
	objects, err := s.scan(&p)
	if err != nil {
		return engine.Error(err)
	}
	return s.among(objects, k, func(o change.Object) (*engine.Env, bool, error) {
		e, ok := s.input.vocabulary.Unify(&p, o, s.input.txn.Names, env)
		return e, ok, nil
	})
}

// among tries objects one after the other, on backtracking; read returns the bindings of an object,
// if it matches.
func (s *state) among(objects []change.Object, k engine.Cont,
	read func(change.Object) (*engine.Env, bool, error)) *engine.Promise {
	return s.solver.solutions(k, func() (*engine.Env, bool, error) {
		for len(objects) > 0 {
			o := objects[0]
			objects = objects[1:]
			if e, ok, err := read(o); ok || err != nil {
				return e, ok, err
			}
		}
		return nil, false, nil
	})
}

// query4 implements query(TREE, ID, FIELD, VALUE), modes 1 and 2: a field of an object as it is
// after the transaction. Unknown parts of the identifier are found as in query/2.
func (s *state) query4(_ *engine.VM, tree, id, field, value engine.Term, k engine.Cont,
	env *engine.Env) *engine.Promise {
	p, ok, err := s.statePattern("query/4", tree, id, env)
	if err != nil {
		return engine.Error(err)
	}
	fieldTerm := env.Resolve(field)
	if _, free := fieldTerm.(engine.Variable); free {
		return engine.Error(syntax.RuleErrorf("query/4 needs a FIELD"))
	}
	f, known := s.input.vocabulary.Field(fieldTerm, env)
	if !ok || !known {
		return engine.Bool(false)
	}
	valueTerm := env.Resolve(value)
	x, bound := s.input.vocabulary.Value(valueTerm, s.input.txn.Names, env)

	read := func(o change.Object) (*engine.Env, bool, error) {
		have, ok, err := s.get(o, f)
		if err != nil || !ok || bound && have != x {
			return nil, false, err
		}
		e, ok := s.input.unifyValue(env, valueTerm, have, x, bound)
		if !ok {
			return nil, false, nil
		}
		e, ok = s.input.vocabulary.Unify(&p, o, s.input.txn.Names, e)
		return e, ok, nil
	}
	if o, ok := s.input.vocabulary.Single(&p); ok {
		e, ok, err := read(o)
		if err != nil {
			return engine.Error(err)
		}
		if !ok {
			return engine.Bool(false)
		}
		return k(e)
	}
	objects, err := s.scanFor(&p, f, x, bound)
	if err != nil {
		return engine.Error(err)
	}
	return s.among(objects, k, read)
}

// get reads a field of an object; the field "object" exists if and only if the object does.
func (s *state) get(o change.Object, f change.Field) (v change.Value, ok bool, err error) {
	if f == change.FieldObject {
		v = change.Present
		ok, err = s.input.view.Exists(o)
	} else {
		v, ok, err = s.input.view.Get(o, f)
	}
	if err != nil {
		return v, false, ViewError{err}
	}
	return v, ok, nil
}

// statePattern reads the object of a query and charges a step.
func (s *state) statePattern(predicate string, tree, id engine.Term,
	env *engine.Env) (p ruleset.Pattern, ok bool, err error) {
	s.budget.last = lookup{predicate, tree, id, env}
	if err := s.budget.spend(1); err != nil {
		return p, false, err
	}
	p, ok = s.input.vocabulary.Pattern(tree, id, s.input.txn.Names, env)
	if !ok {
		return p, false, nil
	}
	if _, free := p.TreeTerm.(engine.Variable); free {
		return p, false, syntax.RuleErrorf("%s needs a TREE", predicate)
	}
	if !p.ID.Bound {
		return p, false, syntax.RuleErrorf("%s needs the object id, which %s does not give", predicate,
			syntax.TermText(p.IDTerm, env))
	}
	if p.Kind == 0 {
		if c, isKey := p.IDTerm.(engine.Compound); !isKey || c.Functor() != syntax.AtomK {
			return p, false, syntax.RuleErrorf("%s cannot tell the kind of object of %s", predicate,
				syntax.TermText(p.IDTerm, env))
		}
	}
	return p, true, nil
}

// scan returns the objects that match a pattern with an object id.
func (s *state) scan(p *ruleset.Pattern) ([]change.Object, error) {
	lo := change.Object{Tree: p.Tree.N, ID: p.ID.N}
	hi := change.Object{Tree: p.Tree.N, ID: p.ID.N, Kind: math.MaxUint8, Sub: math.MaxUint64,
		Aux: math.MaxUint64}
	if p.Kind != 0 {
		lo.Kind, hi.Kind = p.Kind, p.Kind
		if p.Sub.Bound {
			lo.Sub, hi.Sub = p.Sub.N, p.Sub.N
			if p.Aux.Bound {
				lo.Aux, hi.Aux = p.Aux.N, p.Aux.N
			}
		}
	}
	var objects []change.Object
	for o, err := range s.input.view.Scan(lo, hi) {
		if err != nil {
			return nil, ViewError{err}
		}
		if err := s.budget.spend(1); err != nil {
			return nil, err
		}
		if p.Matches(o) {
			objects = append(objects, o)
		}
	}
	return objects, nil
}

// scanFor is scan for objects that have a value in a field. Rule 17 as printed in the thesis
// searches all entries of a directory for the entry of an inode, once for each entry. To avoid
// quadratic time, the first such scan builds an index by value.
func (s *state) scanFor(p *ruleset.Pattern, f change.Field, x change.Value,
	bound bool) ([]change.Object, error) {
	if !bound || p.Kind == 0 || p.Sub.Bound {
		return s.scan(p)
	}
	key := ReverseKey{Tree: p.Tree.N, ID: p.ID.N, Kind: p.Kind, Field: f}
	byValue, ok := s.reverse[key]
	if !ok {
		objects, err := s.scan(p)
		if err != nil || s.reverseSize+len(objects) > MaxReverse {
			return objects, err
		}
		byValue = make(map[change.Value][]change.Object, len(objects))
		for _, o := range objects {
			v, ok, err := s.get(o, f)
			if err != nil {
				return nil, err
			}
			if ok {
				byValue[v] = append(byValue[v], o)
			}
		}
		s.reverse[key] = byValue
		s.reverseSize += len(objects)
	}
	found := byValue[x]
	return found, s.budget.spend(len(found))
}

// neighbor implements previous/3 and the like: the nearest object to a key in the same tree.
func (s *state) neighbor(predicate string, walk Walk) engine.Predicate3 {
	return func(_ *engine.VM, tree, id, beside engine.Term, k engine.Cont,
		env *engine.Env) *engine.Promise {
		p, ok, err := s.statePattern(predicate, tree, id, env)
		if err != nil {
			return engine.Error(err)
		}
		if !ok {
			return engine.Bool(false)
		}
		o, whole := s.input.vocabulary.Single(&p)
		if !whole && (p.Kind == 0 || !p.Sub.Bound ||
			s.input.vocabulary.Shape(p.Kind) != change.ShapeKey) {
			return engine.Error(syntax.RuleErrorf("%s needs the whole identifier, not %s", predicate,
				syntax.TermText(p.IDTerm, env)))
		}
		n, ok, err := walk.From(s.input.view, o)
		if err != nil {
			return engine.Error(ViewError{err})
		}
		if !ok {
			return engine.Bool(false)
		}
		q, ok := s.input.vocabulary.Pattern(p.TreeTerm, beside, s.input.txn.Names, env)
		if !ok || !q.Matches(n) {
			return engine.Bool(false)
		}
		e, ok := s.input.vocabulary.UnifyID(q.IDTerm, n, s.input.txn.Names, env)
		if !ok {
			return engine.Bool(false)
		}
		return k(e)
	}
}
