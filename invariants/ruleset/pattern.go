package ruleset

import (
	"fsward/change"
	"fsward/invariants/syntax"

	"github.com/ichiban/prolog/engine"
)

// A part is a number of an identifier that may or may not be known yet.
type part struct {
	N     uint64
	Bound bool
}

func (p part) matches(n uint64) bool { return !p.Bound || p.N == n }

// A Pattern holds the known parts of an object when a goal is called.
type Pattern struct {
	Tree, ID, Sub, Aux part
	Kind               change.Kind // 0: any
	TreeTerm, IDTerm   engine.Term // the arguments, resolved
}

// Matches reports whether an object agrees with everything that is known.
func (p *Pattern) Matches(o change.Object) bool {
	return p.Tree.matches(o.Tree) && p.ID.matches(o.ID) && (p.Kind == 0 || p.Kind == o.Kind) &&
		p.Sub.matches(o.Sub) && p.Aux.matches(o.Aux)
}

// Pattern reads the first two arguments of a primitive. ok is false if no object can match them.
func (v *Vocabulary) Pattern(tree, id engine.Term, names *change.Names,
	env *engine.Env) (p Pattern, ok bool) {
	p.TreeTerm, p.IDTerm = env.Resolve(tree), env.Resolve(id)
	switch t := p.TreeTerm.(type) {
	case engine.Variable:
	case engine.Atom:
		if p.Kind, ok = v.Kinds[t]; !ok || !v.Schema.KindIsTree {
			return p, false
		}
	default:
		n, isNumber := syntax.IDBits(t)
		if !isNumber || v.Schema.KindIsTree {
			return p, false
		}
		p.Tree = part{n, true}
	}
	switch t := p.IDTerm.(type) {
	case engine.Variable:
		return p, true
	case engine.Integer, syntax.Wide:
		return p, v.shapeIs(p.Kind, change.ShapeNum) && p.ID.bind(t)
	case engine.Compound:
		switch {
		case t.Functor() == syntax.AtomK && t.Arity() == 3:
			return p, v.keyPattern(&p, t, env)
		case t.Functor() == syntax.AtomA && t.Arity() == 2:
			if !p.ID.bind(env.Resolve(t.Arg(0))) {
				return p, false
			}
			return p, v.secondPart(&p, env.Resolve(t.Arg(1)), names)
		}
	}
	return p, false
}

// bind takes the value of a resolved term; it reports false if the term cannot be a number of an
// identifier.
func (p *part) bind(t engine.Term) bool {
	if _, isVariable := t.(engine.Variable); isVariable {
		return true
	}
	p.N, p.Bound = syntax.IDBits(t)
	return p.Bound
}

// shapeIs reports whether an object of the kind, or of any kind if k is 0, can have one of the
// shapes.
func (v *Vocabulary) shapeIs(k change.Kind, shapes ...change.Shape) bool {
	if k == 0 {
		return true
	}
	for _, s := range shapes {
		if v.Shape(k) == s {
			return true
		}
	}
	return false
}

// keyPattern reads k(ID, KIND, SUB).
func (v *Vocabulary) keyPattern(p *Pattern, t engine.Compound, env *engine.Env) bool {
	switch kind := env.Resolve(t.Arg(1)).(type) {
	case engine.Variable:
	case engine.Atom:
		k, ok := v.Kinds[kind]
		if !ok || p.Kind != 0 && p.Kind != k {
			return false
		}
		p.Kind = k
	default:
		return false
	}
	if !p.ID.bind(env.Resolve(t.Arg(0))) {
		return false
	}
	switch sub := env.Resolve(t.Arg(2)).(type) {
	case engine.Variable:
		return v.shapeIs(p.Kind, change.ShapeKey, change.ShapePair)
	case engine.Integer, syntax.Wide:
		return v.shapeIs(p.Kind, change.ShapeKey) && p.Sub.bind(sub)
	case engine.Compound:
		return v.shapeIs(p.Kind, change.ShapePair) && sub.Functor() == syntax.AtomA && sub.Arity() == 2 &&
			p.Sub.bind(env.Resolve(sub.Arg(0))) && p.Aux.bind(env.Resolve(sub.Arg(1)))
	default:
		return false
	}
}

// secondPart reads the second argument of a(ID, M) or a(ID, 'name').
func (v *Vocabulary) secondPart(p *Pattern, t engine.Term, names *change.Names) bool {
	switch t := t.(type) {
	case engine.Variable:
		return v.shapeIs(p.Kind, change.ShapeNums, change.ShapeNamed)
	case engine.Integer, syntax.Wide:
		return v.shapeIs(p.Kind, change.ShapeNums) && p.Sub.bind(t)
	case engine.Atom:
		p.Sub = part{names.Handle([]byte(t.String())), true}
		return v.shapeIs(p.Kind, change.ShapeNamed)
	case syntax.Name:
		p.Sub = part{names.Handle([]byte(t)), true}
		return v.shapeIs(p.Kind, change.ShapeNamed)
	default:
		return false
	}
}

// Unify binds the variables of a pattern to the parts of an object that matches it. Bound parts
// were compared as numbers already; in these, a negative literal stands for the same 64 bits.
func (v *Vocabulary) Unify(p *Pattern, o change.Object, names *change.Names,
	env *engine.Env) (*engine.Env, bool) {
	if _, free := p.TreeTerm.(engine.Variable); free {
		var ok bool
		if env, ok = env.Unify(p.TreeTerm, v.treeTerm(o)); !ok {
			return env, false
		}
	}
	return v.UnifyID(p.IDTerm, o, names, env)
}

// UnifyID unifies the identifier of an object with a resolved term whose bound numbers the object
// has.
func (v *Vocabulary) UnifyID(id engine.Term, o change.Object, names *change.Names,
	env *engine.Env) (*engine.Env, bool) {
	c, ok := id.(engine.Compound)
	if !ok {
		if _, free := id.(engine.Variable); free {
			return env.Unify(id, v.idTerm(o, names))
		}
		return env, v.Shape(o.Kind) == change.ShapeNum
	}
	shape := v.Shape(o.Kind)
	var first, second engine.Term // the number ID, and the last part
	switch {
	case c.Functor() == syntax.AtomK && c.Arity() == 3 &&
		(shape == change.ShapeKey || shape == change.ShapePair):
		if env, ok = env.Unify(c.Arg(1), v.KindTerm(o.Kind)); !ok {
			return env, false
		}
		first, second = c.Arg(0), c.Arg(2)
	case c.Functor() == syntax.AtomA && c.Arity() == 2 &&
		(shape == change.ShapeNums || shape == change.ShapeNamed):
		first, second = c.Arg(0), c.Arg(1)
	default:
		return env, false
	}
	if env, ok = unifyNumber(first, o.ID, env); !ok {
		return env, false
	}
	switch shape {
	case change.ShapeNamed:
		return env.Unify(second, v.NameTerm(names.At(o.Sub)))
	case change.ShapePair:
		pair, isPair := env.Resolve(second).(engine.Compound)
		if !isPair {
			return env.Unify(second, syntax.AtomA.Apply(syntax.NumTerm(o.Sub), syntax.NumTerm(o.Aux)))
		}
		if pair.Functor() != syntax.AtomA || pair.Arity() != 2 {
			return env, false
		}
		if env, ok = unifyNumber(pair.Arg(0), o.Sub, env); !ok {
			return env, false
		}
		return unifyNumber(pair.Arg(1), o.Aux, env)
	default:
		return unifyNumber(second, o.Sub, env)
	}
}

// unifyNumber unifies a part of an identifier with its number.
func unifyNumber(t engine.Term, n uint64, env *engine.Env) (*engine.Env, bool) {
	t = env.Resolve(t)
	if _, free := t.(engine.Variable); free {
		return env.Unify(t, syntax.NumTerm(n))
	}
	m, ok := syntax.IDBits(t)
	return env, ok && m == n
}

// Single returns the one object that a pattern can match; ok is false if there may be several.
// Several objects of ShapeKey may share a whole identifier, unless their kind is Unique.
func (v *Vocabulary) Single(p *Pattern) (o change.Object, ok bool) {
	if p.Kind == 0 {
		return o, false
	}
	switch v.Shape(p.Kind) {
	case change.ShapeKey:
		ok = p.Sub.Bound && v.Schema.Kinds[p.Kind].Unique
	case change.ShapePair:
		ok = p.Sub.Bound && p.Aux.Bound
	case change.ShapeNum:
		ok = true
	case change.ShapeNums, change.ShapeNamed:
		ok = p.Sub.Bound
	}
	return change.Object{Tree: p.Tree.N, Kind: p.Kind, ID: p.ID.N, Sub: p.Sub.N, Aux: p.Aux.N}, ok
}
