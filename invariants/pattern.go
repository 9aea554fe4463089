package invariants

import (
	"fsward/change"
	"fsward/invariants/syntax"

	"github.com/ichiban/prolog/engine"
)

// part is a place of an identifier that may or may not have a value yet.
type part struct {
	n     uint64
	bound bool
}

func (p part) matches(n uint64) bool { return !p.bound || p.n == n }

// A pattern is what is known of an object when a goal is called.
type pattern struct {
	tree, id, sub, aux part
	kind               change.Kind // 0: any
	treeTerm, idTerm   engine.Term // the arguments, resolved
}

func (p *pattern) matches(o change.Object) bool {
	return p.tree.matches(o.Tree) && p.id.matches(o.ID) && (p.kind == 0 || p.kind == o.Kind) &&
		p.sub.matches(o.Sub) && p.aux.matches(o.Aux)
}

// pattern reads the first two arguments of a primitive. ok is false if no object at all can match them.
func (v *vocabulary) pattern(tree, id engine.Term, names *change.Names, env *engine.Env) (p pattern, ok bool) {
	p.treeTerm, p.idTerm = env.Resolve(tree), env.Resolve(id)
	switch t := p.treeTerm.(type) {
	case engine.Variable:
	case engine.Atom:
		if p.kind, ok = v.kinds[t]; !ok || !v.schema.KindIsTree {
			return p, false
		}
	default:
		n, isNumber := syntax.IDBits(t)
		if !isNumber || v.schema.KindIsTree {
			return p, false
		}
		p.tree = part{n, true}
	}
	switch t := p.idTerm.(type) {
	case engine.Variable:
		return p, true
	case engine.Integer, syntax.Wide:
		return p, v.shapeIs(p.kind, change.ShapeNum) && p.id.bind(t)
	case engine.Compound:
		switch {
		case t.Functor() == syntax.AtomK && t.Arity() == 3:
			return p, v.keyPattern(&p, t, env)
		case t.Functor() == syntax.AtomA && t.Arity() == 2:
			if !p.id.bind(env.Resolve(t.Arg(0))) {
				return p, false
			}
			return p, v.secondPart(&p, env.Resolve(t.Arg(1)), names)
		}
	}
	return p, false
}

// bind takes the value of a resolved term; it reports false if that can be no number of an identifier.
func (p *part) bind(t engine.Term) bool {
	if _, isVariable := t.(engine.Variable); isVariable {
		return true
	}
	p.n, p.bound = syntax.IDBits(t)
	return p.bound
}

// shapeIs tells whether an object of the kind, or of any kind if it is 0, can have one of the shapes.
func (v *vocabulary) shapeIs(k change.Kind, shapes ...change.Shape) bool {
	if k == 0 {
		return true
	}
	for _, s := range shapes {
		if v.shape(k) == s {
			return true
		}
	}
	return false
}

// keyPattern reads k(ID, KIND, SUB).
func (v *vocabulary) keyPattern(p *pattern, t engine.Compound, env *engine.Env) bool {
	switch kind := env.Resolve(t.Arg(1)).(type) {
	case engine.Variable:
	case engine.Atom:
		k, ok := v.kinds[kind]
		if !ok || p.kind != 0 && p.kind != k {
			return false
		}
		p.kind = k
	default:
		return false
	}
	if !p.id.bind(env.Resolve(t.Arg(0))) {
		return false
	}
	switch sub := env.Resolve(t.Arg(2)).(type) {
	case engine.Variable:
		return v.shapeIs(p.kind, change.ShapeKey, change.ShapePair)
	case engine.Integer, syntax.Wide:
		return v.shapeIs(p.kind, change.ShapeKey) && p.sub.bind(sub)
	case engine.Compound:
		return v.shapeIs(p.kind, change.ShapePair) && sub.Functor() == syntax.AtomA && sub.Arity() == 2 &&
			p.sub.bind(env.Resolve(sub.Arg(0))) && p.aux.bind(env.Resolve(sub.Arg(1)))
	default:
		return false
	}
}

// secondPart reads the second argument of a(ID, M) or a(ID, 'name').
func (v *vocabulary) secondPart(p *pattern, t engine.Term, names *change.Names) bool {
	switch t := t.(type) {
	case engine.Variable:
		return v.shapeIs(p.kind, change.ShapeNums, change.ShapeNamed)
	case engine.Integer, syntax.Wide:
		return v.shapeIs(p.kind, change.ShapeNums) && p.sub.bind(t)
	case engine.Atom:
		p.sub = part{names.Handle([]byte(t.String())), true}
		return v.shapeIs(p.kind, change.ShapeNamed)
	case syntax.Name:
		p.sub = part{names.Handle([]byte(t)), true}
		return v.shapeIs(p.kind, change.ShapeNamed)
	default:
		return false
	}
}

// unify binds the variables of a pattern to the parts of an object that matches it. Parts that are bound
// were compared as numbers already, in which a negative literal stands for the same 64 bits.
func (v *vocabulary) unify(p *pattern, o change.Object, names *change.Names, env *engine.Env) (*engine.Env, bool) {
	if _, free := p.treeTerm.(engine.Variable); free {
		var ok bool
		if env, ok = env.Unify(p.treeTerm, v.treeTerm(o)); !ok {
			return env, false
		}
	}
	return v.unifyID(p.idTerm, o, names, env)
}

// unifyID unifies the identifier of an object with a resolved term whose bound numbers it has.
func (v *vocabulary) unifyID(id engine.Term, o change.Object, names *change.Names, env *engine.Env) (*engine.Env, bool) {
	c, ok := id.(engine.Compound)
	if !ok {
		if _, free := id.(engine.Variable); free {
			return env.Unify(id, v.idTerm(o, names))
		}
		return env, v.shape(o.Kind) == change.ShapeNum
	}
	shape := v.shape(o.Kind)
	var first, second engine.Term // the number ID; what comes last
	switch {
	case c.Functor() == syntax.AtomK && c.Arity() == 3 && (shape == change.ShapeKey || shape == change.ShapePair):
		if env, ok = env.Unify(c.Arg(1), v.kindTerm(o.Kind)); !ok {
			return env, false
		}
		first, second = c.Arg(0), c.Arg(2)
	case c.Functor() == syntax.AtomA && c.Arity() == 2 && (shape == change.ShapeNums || shape == change.ShapeNamed):
		first, second = c.Arg(0), c.Arg(1)
	default:
		return env, false
	}
	if env, ok = unifyNumber(first, o.ID, env); !ok {
		return env, false
	}
	switch shape {
	case change.ShapeNamed:
		return env.Unify(second, v.nameTerm(names.At(o.Sub)))
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

// unifyNumber unifies a place of an identifier with its number.
func unifyNumber(t engine.Term, n uint64, env *engine.Env) (*engine.Env, bool) {
	t = env.Resolve(t)
	if _, free := t.(engine.Variable); free {
		return env.Unify(t, syntax.NumTerm(n))
	}
	m, ok := syntax.IDBits(t)
	return env, ok && m == n
}

// single returns the one object that a pattern can match; ok is false if there may be several. Objects of
// ShapeKey may be several although their whole identifier is known, unless their kind is Unique.
func (v *vocabulary) single(p *pattern) (o change.Object, ok bool) {
	if p.kind == 0 {
		return o, false
	}
	switch v.shape(p.kind) {
	case change.ShapeKey:
		ok = p.sub.bound && v.schema.Kinds[p.kind].Unique
	case change.ShapePair:
		ok = p.sub.bound && p.aux.bound
	case change.ShapeNum:
		ok = true
	case change.ShapeNums, change.ShapeNamed:
		ok = p.sub.bound
	}
	return change.Object{Tree: p.tree.n, Kind: p.kind, ID: p.id.n, Sub: p.sub.n, Aux: p.aux.n}, ok
}
