package ruleset

import (
	"strings"

	"github.com/ichiban/prolog/engine"

	"fsward/change"
	"fsward/invariants/syntax"
)

// A Vocabulary turns the numbers of a schema into terms and back.
type Vocabulary struct {
	Schema     *change.Schema
	Kinds      map[engine.Atom]change.Kind
	KindTerms  []engine.Term // by Kind
	Fields     map[string]change.Field
	FieldTerms []engine.Term // by Field
	WordTerms  []engine.Term // by WordID
	// Literals holds the atoms in the text of the rules, by their bytes: a name of a guest with the
	// same bytes becomes that atom.
	Literals map[string]engine.Atom
}

func newVocabulary(s *change.Schema) *Vocabulary {
	v := &Vocabulary{Schema: s, Kinds: map[engine.Atom]change.Kind{},
		Fields:   map[string]change.Field{},
		Literals: map[string]engine.Atom{}}
	for i, k := range s.Kinds {
		a := engine.NewAtom(k.Name)
		v.KindTerms = append(v.KindTerms, a)
		if i > 0 {
			v.Kinds[a] = change.Kind(i)
		}
	}
	for i, f := range s.Fields {
		v.FieldTerms = append(v.FieldTerms, fieldTerm(f))
		v.Fields[f] = change.Field(i)
	}
	for _, w := range s.Words {
		v.WordTerms = append(v.WordTerms, engine.NewAtom(w))
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

// addLiteral records an atom of a rule. It ignores null: a file of that name is a name, and not the
// absence of a value.
func (v *Vocabulary) addLiteral(a engine.Atom) {
	if a != syntax.AtomNull {
		v.Literals[a.String()] = a
	}
}

// NameTerm returns the term of a name.
func (v *Vocabulary) NameTerm(text string) engine.Term {
	if a, ok := v.Literals[text]; ok {
		return a
	}
	return syntax.Name(text)
}

// Field returns the field that a resolved term names; ok is false if the schema has no such field.
func (v *Vocabulary) Field(t engine.Term, env *engine.Env) (f change.Field, ok bool) {
	switch t := t.(type) {
	case engine.Atom:
		f, ok = v.Fields[t.String()]
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
		f, ok = v.Fields[b.String()]
	}
	return f, ok
}

// ValueTerm returns the term of a value.
func (v *Vocabulary) ValueTerm(x change.Value, names *change.Names) engine.Term {
	switch x.Tag() {
	case change.U64:
		n, _ := x.Num()
		return syntax.NumTerm(n)
	case change.Word:
		if w, _ := x.Word(); int(w) < len(v.WordTerms) {
			return v.WordTerms[w]
		}
		return engine.Integer(0) // not reached: interpreters use words of their schema
	case change.Name:
		return v.NameTerm(names.Text(x))
	case change.Key:
		id, kind, sub, _ := names.KeyOf(x)
		return syntax.AtomK.Apply(syntax.NumTerm(id), v.KindTerm(kind), syntax.NumTerm(sub))
	default:
		return syntax.AtomNull
	}
}

// KindTerm returns the atom of a kind.
func (v *Vocabulary) KindTerm(k change.Kind) engine.Term {
	if int(k) < len(v.KindTerms) {
		return v.KindTerms[k]
	}
	return engine.Integer(k)
}

// Value returns the value that a resolved term stands for; ok is false if it stands for several (an
// atom can be a word or a name) or for none, so that unification must decide.
func (v *Vocabulary) Value(t engine.Term, names *change.Names,
	env *engine.Env) (x change.Value, ok bool) {
	switch t := t.(type) {
	case engine.Integer, syntax.Wide:
		n, ok := syntax.U64(t)
		return change.Num(n), ok
	case syntax.Name:
		return names.Intern([]byte(t)), true
	case engine.Compound:
		if t.Functor() != syntax.AtomK || t.Arity() != 3 {
			return change.Value{}, false
		}
		id, ok1 := syntax.IDBits(env.Resolve(t.Arg(0)))
		atom, ok2 := env.Resolve(t.Arg(1)).(engine.Atom)
		kind, ok3 := v.Kinds[atom]
		sub, ok4 := syntax.IDBits(env.Resolve(t.Arg(2)))
		if !ok1 || !ok2 || !ok3 || !ok4 {
			return change.Value{}, false
		}
		return names.Key(id, kind, sub), true
	default:
		return change.Value{}, false
	}
}

// treeTerm returns the first argument of the records of an object.
func (v *Vocabulary) treeTerm(o change.Object) engine.Term {
	if v.Schema.KindIsTree {
		return v.KindTerm(o.Kind)
	}
	return syntax.NumTerm(o.Tree)
}

// Shape returns the shape of the identifiers of a kind.
func (v *Vocabulary) Shape(k change.Kind) change.Shape {
	if int(k) < len(v.Schema.Kinds) {
		return v.Schema.Kinds[k].Shape
	}
	return change.ShapeKey
}

// idTerm returns the term of the identifier of an object.
func (v *Vocabulary) idTerm(o change.Object, names *change.Names) engine.Term {
	switch v.Shape(o.Kind) {
	case change.ShapePair:
		return syntax.AtomK.Apply(syntax.NumTerm(o.ID), v.KindTerm(o.Kind),
			syntax.AtomA.Apply(syntax.NumTerm(o.Sub), syntax.NumTerm(o.Aux)))
	case change.ShapeNum:
		return syntax.NumTerm(o.ID)
	case change.ShapeNums:
		return syntax.AtomA.Apply(syntax.NumTerm(o.ID), syntax.NumTerm(o.Sub))
	case change.ShapeNamed:
		return syntax.AtomA.Apply(syntax.NumTerm(o.ID), v.NameTerm(names.At(o.Sub)))
	default:
		return syntax.AtomK.Apply(syntax.NumTerm(o.ID), v.KindTerm(o.Kind), syntax.NumTerm(o.Sub))
	}
}

// Unique reports whether an identifier names at most one object of a kind.
func (v *Vocabulary) Unique(k change.Kind) bool {
	return int(k) < len(v.Schema.Kinds) && v.Schema.Kinds[k].Unique
}
