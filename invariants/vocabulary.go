package invariants

import (
	"strings"

	"github.com/ichiban/prolog/engine"

	"fsward/change"
)

var (
	atomK    = engine.NewAtom("k")
	atomA    = engine.NewAtom("a")
	atomNull = engine.NewAtom("null")
)

// A vocabulary turns the numbers of a schema into terms and back.
type vocabulary struct {
	schema     *change.Schema
	kinds      map[engine.Atom]change.Kind
	kindTerms  []engine.Term // by Kind
	fields     map[string]change.Field
	fieldTerms []engine.Term // by Field
	wordTerms  []engine.Term // by WordID
	// literals holds the atoms in the text of the rules, by their bytes: a name of a guest with the same
	// bytes becomes that atom.
	literals map[string]engine.Atom
}

func newVocabulary(s *change.Schema) *vocabulary {
	v := &vocabulary{schema: s, kinds: map[engine.Atom]change.Kind{}, fields: map[string]change.Field{},
		literals: map[string]engine.Atom{}}
	for i, k := range s.Kinds {
		a := engine.NewAtom(k.Name)
		v.kindTerms = append(v.kindTerms, a)
		if i > 0 {
			v.kinds[a] = change.Kind(i)
		}
	}
	for i, f := range s.Fields {
		v.fieldTerms = append(v.fieldTerms, fieldTerm(f))
		v.fields[f] = change.Field(i)
	}
	for _, w := range s.Words {
		v.wordTerms = append(v.wordTerms, engine.NewAtom(w))
	}
	return v
}

// fieldTerm makes the term of a field as the schema writes it: "size", "f(mode,s_ifmt)".
func fieldTerm(text string) engine.Term {
	functor, rest, compound := strings.Cut(text, "(")
	if !compound {
		return engine.NewAtom(text)
	}
	var args []engine.Term
	for _, a := range strings.Split(strings.TrimSuffix(rest, ")"), ",") {
		args = append(args, engine.NewAtom(a))
	}
	return engine.NewAtom(functor).Apply(args...)
}

// addLiteral notes an atom that stands in a rule. null is left out: a file of that name is a name, and
// not the absence of a value.
func (v *vocabulary) addLiteral(a engine.Atom) {
	if a != atomNull {
		v.literals[a.String()] = a
	}
}

// nameTerm returns the term of a name.
func (v *vocabulary) nameTerm(text string) engine.Term {
	if a, ok := v.literals[text]; ok {
		return a
	}
	return name(text)
}

// field returns the field that a resolved term names; ok is false if the schema has none such.
func (v *vocabulary) field(t engine.Term, env *engine.Env) (f change.Field, ok bool) {
	switch t := t.(type) {
	case engine.Atom:
		f, ok = v.fields[t.String()]
	case engine.Compound:
		var b strings.Builder
		b.WriteString(t.Functor().String())
		for i := range t.Arity() {
			a, isAtom := env.Resolve(t.Arg(i)).(engine.Atom)
			if !isAtom {
				return 0, false
			}
			b.WriteByte("(,"[min(i, 1)])
			b.WriteString(a.String())
		}
		b.WriteByte(')')
		f, ok = v.fields[b.String()]
	}
	return f, ok
}

// valueTerm returns the term of a value.
func (v *vocabulary) valueTerm(x change.Value, names *change.Names) engine.Term {
	switch x.Tag() {
	case change.U64:
		n, _ := x.Num()
		return numTerm(n)
	case change.Word:
		if w, _ := x.Word(); int(w) < len(v.wordTerms) {
			return v.wordTerms[w]
		}
		return engine.Integer(0) // not reached: interpreters use words of their schema
	case change.Name:
		return v.nameTerm(names.Text(x))
	case change.Key:
		id, kind, sub, _ := names.KeyOf(x)
		return atomK.Apply(numTerm(id), v.kindTerm(kind), numTerm(sub))
	default:
		return atomNull
	}
}

func (v *vocabulary) kindTerm(k change.Kind) engine.Term {
	if int(k) < len(v.kindTerms) {
		return v.kindTerms[k]
	}
	return engine.Integer(k)
}

// value returns the value that a resolved term stands for; ok is false where it stands for more than one
// (an atom can be a word or a name) or for none, and only unification can tell.
func (v *vocabulary) value(t engine.Term, names *change.Names, env *engine.Env) (x change.Value, ok bool) {
	switch t := t.(type) {
	case engine.Integer, wide:
		n, ok := u64(t)
		return change.Num(n), ok
	case name:
		return names.Intern([]byte(t)), true
	case engine.Compound:
		if t.Functor() != atomK || t.Arity() != 3 {
			return change.Value{}, false
		}
		id, ok1 := idBits(env.Resolve(t.Arg(0)))
		atom, ok2 := env.Resolve(t.Arg(1)).(engine.Atom)
		kind, ok3 := v.kinds[atom]
		sub, ok4 := idBits(env.Resolve(t.Arg(2)))
		if !ok1 || !ok2 || !ok3 || !ok4 {
			return change.Value{}, false
		}
		return names.Key(id, kind, sub), true
	default:
		return change.Value{}, false
	}
}

// treeTerm returns the first argument of the records of an object.
func (v *vocabulary) treeTerm(o change.Object) engine.Term {
	if v.schema.KindIsTree {
		return v.kindTerm(o.Kind)
	}
	return numTerm(o.Tree)
}

func (v *vocabulary) shape(k change.Kind) change.Shape {
	if int(k) < len(v.schema.Kinds) {
		return v.schema.Kinds[k].Shape
	}
	return change.ShapeKey
}

// idTerm returns the identifier of an object.
func (v *vocabulary) idTerm(o change.Object, names *change.Names) engine.Term {
	switch v.shape(o.Kind) {
	case change.ShapePair:
		return atomK.Apply(numTerm(o.ID), v.kindTerm(o.Kind), atomA.Apply(numTerm(o.Sub), numTerm(o.Aux)))
	case change.ShapeNum:
		return numTerm(o.ID)
	case change.ShapeNums:
		return atomA.Apply(numTerm(o.ID), numTerm(o.Sub))
	case change.ShapeNamed:
		return atomA.Apply(numTerm(o.ID), v.nameTerm(names.At(o.Sub)))
	default:
		return atomK.Apply(numTerm(o.ID), v.kindTerm(o.Kind), numTerm(o.Sub))
	}
}

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
		n, isNumber := idBits(t)
		if !isNumber || v.schema.KindIsTree {
			return p, false
		}
		p.tree = part{n, true}
	}
	switch t := p.idTerm.(type) {
	case engine.Variable:
		return p, true
	case engine.Integer, wide:
		return p, v.shapeIs(p.kind, change.ShapeNum) && p.id.bind(t)
	case engine.Compound:
		switch {
		case t.Functor() == atomK && t.Arity() == 3:
			return p, v.keyPattern(&p, t, env)
		case t.Functor() == atomA && t.Arity() == 2:
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
	p.n, p.bound = idBits(t)
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
	case engine.Integer, wide:
		return v.shapeIs(p.kind, change.ShapeKey) && p.sub.bind(sub)
	case engine.Compound:
		return v.shapeIs(p.kind, change.ShapePair) && sub.Functor() == atomA && sub.Arity() == 2 &&
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
	case engine.Integer, wide:
		return v.shapeIs(p.kind, change.ShapeNums) && p.sub.bind(t)
	case engine.Atom:
		p.sub = part{names.Handle([]byte(t.String())), true}
		return v.shapeIs(p.kind, change.ShapeNamed)
	case name:
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
	case c.Functor() == atomK && c.Arity() == 3 && (shape == change.ShapeKey || shape == change.ShapePair):
		if env, ok = env.Unify(c.Arg(1), v.kindTerm(o.Kind)); !ok {
			return env, false
		}
		first, second = c.Arg(0), c.Arg(2)
	case c.Functor() == atomA && c.Arity() == 2 && (shape == change.ShapeNums || shape == change.ShapeNamed):
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
			return env.Unify(second, atomA.Apply(numTerm(o.Sub), numTerm(o.Aux)))
		}
		if pair.Functor() != atomA || pair.Arity() != 2 {
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
		return env.Unify(t, numTerm(n))
	}
	m, ok := idBits(t)
	return env, ok && m == n
}
