package compile

import (
	"strings"

	"github.com/ichiban/prolog/engine"

	"fsward/change"
	"fsward/invariants/ruleset"
	"fsward/invariants/syntax"
)

// A patternMaker makes the patterns of objects, fields and values that goals match.
type patternMaker struct {
	vocabulary *ruleset.Vocabulary
	interner   *interner
	registers  *registerFile
	unifier    *unifier
}

// errKind says that a goal must become a disjunction over the kinds of objects.
type errKind struct{ tree template }

func (e errKind) Error() string { return "the kind of object is not known" }

// object makes the pattern of TREE and ID. ops load registers that are known when the pattern is
// used.
func (p *patternMaker) object(e *bindings,
	tree, id template) (x objectPattern, ops []op, alive bool, err error) {
	v := p.vocabulary
	switch t := e.walk(tree).(type) {
	case constant:
		if v.Schema.KindIsTree {
			k, known := v.Kinds[engine.Atom(t.n)]
			if t.tag != tagAtom || !known {
				return x, nil, false, nil
			}
			x.kind = k
		}
	default:
		if v.Schema.KindIsTree {
			return x, nil, true, errKind{t}
		}
	}
	idT := e.walk(id)
	number := v.Schema.KindIsTree && v.Shape(x.kind) == change.ShapeNum
	if r, ok := idT.(register); ok && !number {
		functor, arity := p.identifier(x.kind)
		var parts []template
		ops, parts = p.unifier.take(r, functor, arity)
		idT = compoundTemplate{functor, parts}
	}
	if !v.Schema.KindIsTree {
		for k, info := range v.Schema.Kinds {
			if k > 0 && info.Shape != change.ShapeKey && info.Shape != change.ShapePair {
				return x, nil, true, unsupportedf("kinds of objects whose identifiers have several forms")
			}
		}
	}
	// A pair in a register is also taken apart first.
	if c, ok := idT.(compoundTemplate); ok && c.functor == syntax.AtomK && len(c.args) == 3 {
		kind := x.kind
		if a, ok := e.walk(c.args[1]).(constant); ok && a.tag == tagAtom {
			kind = v.Kinds[engine.Atom(a.n)]
		}
		if r, ok := e.walk(c.args[2]).(register); ok && kind != 0 && v.Shape(kind) == change.ShapePair {
			more, parts := p.unifier.take(r, syntax.AtomA, 2)
			ops = append(ops, more...)
			idT = compoundTemplate{syntax.AtomK, []template{c.args[0], c.args[1],
				compoundTemplate{syntax.AtomA, parts}}}
		}
	}
	mark := p.registers.count
	if !v.Schema.KindIsTree {
		if alive = p.numberPlace(e, &x.tree, tree, mark); !alive {
			return x, nil, false, nil
		}
	}
	alive = p.identifierPlaces(e, &x, idT, mark)
	return x, ops, alive, nil
}

// identifier returns the functor and arity of the identifiers of a kind.
func (p *patternMaker) identifier(k change.Kind) (functor engine.Atom, arity int) {
	if shape := p.vocabulary.Shape(k); k != 0 &&
		(shape == change.ShapeNums || shape == change.ShapeNamed) {
		return syntax.AtomA, 2
	}
	return syntax.AtomK, 3
}

// identifierPlaces makes the places of an identifier.
func (p *patternMaker) identifierPlaces(e *bindings, x *objectPattern, id template,
	mark int) (alive bool) {
	v := p.vocabulary
	switch t := id.(type) {
	case variable:
		return p.wholeIdentifier(e, x, t, mark)
	case constant, register:
		if x.kind == 0 || v.Shape(x.kind) != change.ShapeNum {
			return false
		}
		x.form = subNone
		return p.numberPlace(e, &x.id, t, mark)
	case compoundTemplate:
		if !p.numberPlace(e, &x.id, t.args[0], mark) {
			return false
		}
		switch {
		case t.functor == syntax.AtomK && len(t.args) == 3:
			return p.keyPlaces(e, x, t, mark)
		case t.functor == syntax.AtomA && len(t.args) == 2 && x.kind != 0:
			switch v.Shape(x.kind) {
			case change.ShapeNums:
				return p.numberPlace(e, &x.sub, t.args[1], mark)
			case change.ShapeNamed:
				x.form = subName
				return p.namePlace(e, &x.sub, t.args[1], mark)
			}
		}
	}
	return false
}

// wholeIdentifier makes the places of an identifier that is one variable, and binds the variable.
func (p *patternMaker) wholeIdentifier(e *bindings, x *objectPattern, id variable, mark int) bool {
	shape := change.ShapeKey
	if x.kind != 0 {
		shape = p.vocabulary.Shape(x.kind)
	}
	if e.info[id].single {
		x.form = subAny
		switch shape {
		case change.ShapeNum:
			x.form = subNone
		case change.ShapeNamed:
			x.form = subName
		}
		return true
	}
	number := func(part string) template {
		v := e.fresh(2)
		if name := e.info[id].name; name != "" {
			e.info[v].name = name + part
		}
		return v
	}
	var t template
	switch shape {
	case change.ShapeNum:
		x.form = subNone
		t = number("")
		p.numberPlace(e, &x.id, t, mark)
		e.bound[id] = t
		return true
	case change.ShapeNums, change.ShapeNamed:
		t = compoundTemplate{syntax.AtomA, []template{number(".1"), number(".2")}}
	default:
		kind := number(".2")
		if x.kind != 0 {
			kind = constant(p.interner.kind(x.kind))
		}
		t = compoundTemplate{syntax.AtomK, []template{number(".1"), kind, number(".3")}}
	}
	e.bound[id] = t
	return p.identifierPlaces(e, x, t, mark)
}

// keyPlaces makes the places of the kind and the last part of k(ID, KIND, SUB).
func (p *patternMaker) keyPlaces(e *bindings, x *objectPattern, t compoundTemplate, mark int) bool {
	v := p.vocabulary
	given := x.kind
	switch k := e.walk(t.args[1]).(type) {
	case constant:
		kind, known := v.Kinds[engine.Atom(k.n)]
		if k.tag != tagAtom || !known || given != 0 && given != kind {
			return false
		}
		x.kind = kind
	case variable:
		switch {
		case given != 0:
			e.bound[k] = constant(p.interner.kind(given))
		case !e.info[k].single:
			x.kindPlace = place{mode: placeLoad, register: p.registers.load(e, k, typeAny)}
		}
	case register:
		x.kindPlace = place{mode: placeBound, register: k.index}
		if k.index >= mark {
			x.kindPlace.mode = placeLate
		}
	default:
		return false
	}
	if x.kind != 0 {
		switch v.Shape(x.kind) {
		case change.ShapeKey:
			return p.numberPlace(e, &x.sub, t.args[2], mark)
		case change.ShapePair:
			return p.pairPlaces(e, x, t.args[2], mark)
		default:
			return false
		}
	}
	switch sub := e.walk(t.args[2]).(type) {
	case variable:
		x.form = subAny
		if !e.info[sub].single {
			x.sub = place{mode: placeLoad, register: p.registers.load(e, sub, typeAny)}
		}
		return true
	case register:
		x.form = subAny
		x.sub = place{mode: placeBound, register: sub.index}
		if sub.index >= mark {
			x.sub.mode = placeLate
		}
		return true
	case compoundTemplate:
		return p.pairPlaces(e, x, sub, mark)
	default:
		return p.numberPlace(e, &x.sub, sub, mark)
	}
}

func (p *patternMaker) pairPlaces(e *bindings, x *objectPattern, t template, mark int) bool {
	x.form = subPair
	switch t := e.walk(t).(type) {
	case variable:
		if e.info[t].single {
			return true
		}
		a, b := e.fresh(2), e.fresh(2)
		e.bound[t] = compoundTemplate{syntax.AtomA, []template{a, b}}
		return p.numberPlace(e, &x.sub, a, mark) && p.numberPlace(e, &x.aux, b, mark)
	case compoundTemplate:
		return t.functor == syntax.AtomA && len(t.args) == 2 &&
			p.numberPlace(e, &x.sub, t.args[0], mark) && p.numberPlace(e, &x.aux, t.args[1], mark)
	default:
		return false
	}
}

// numberPlace makes the place of a number; it reports false if nothing can match.
func (p *patternMaker) numberPlace(e *bindings, x *place, t template, mark int) bool {
	switch t := e.walk(t).(type) {
	case constant:
		_, isNumber := value(t).bits()
		*x = place{mode: placeConst, value: value(t)}
		return isNumber
	case register:
		*x = place{mode: placeBound, register: t.index}
		if t.index >= mark {
			x.mode = placeLate
		}
		return t.typ != typeName
	case variable:
		if !e.info[t].single {
			*x = place{mode: placeLoad, register: p.registers.load(e, t, typeWord)}
		}
		return true
	default:
		return false
	}
}

// namePlace makes the place of a name; it reports false if nothing can match.
func (p *patternMaker) namePlace(e *bindings, x *place, t template, mark int) bool {
	switch t := e.walk(t).(type) {
	case constant:
		*x = place{mode: placeConst, value: value(t)}
		return t.tag == tagAtom
	case register:
		*x = place{mode: placeBound, register: t.index}
		if t.index >= mark {
			x.mode = placeLate
		}
		return true
	case variable:
		if !e.info[t].single {
			*x = place{mode: placeLoad, register: p.registers.load(e, t, typeName)}
		}
		return true
	default:
		return false
	}
}

// valuePlaces makes the pattern of a value.
func (p *patternMaker) valuePlaces(e *bindings, t template, mark int) (x valuePattern, alive bool) {
	switch t := e.walk(t).(type) {
	case constant:
		x.place = place{mode: placeConst, value: value(t)}
		return x, true
	case register:
		x.place = place{mode: placeBound, register: t.index}
		if t.index >= mark {
			x.mode = placeLate
		}
		return x, true
	case variable:
		if !e.info[t].single {
			x.place = place{mode: placeLoad, register: p.registers.load(e, t, typeAny)}
		}
		return x, true
	case compoundTemplate:
		if t.functor != syntax.AtomK || len(t.args) != 3 {
			return x, false
		}
		x.key = true
		if !p.numberPlace(e, &x.id, t.args[0], mark) || !p.numberPlace(e, &x.sub, t.args[2], mark) {
			return x, false
		}
		switch k := e.walk(t.args[1]).(type) {
		case constant:
			x.kind = place{mode: placeConst, value: value(k)}
			x.keyKind, _ = p.interner.kindOf(value(k))
			return x, k.tag == tagAtom
		case register:
			x.kind = place{mode: placeBound, register: k.index}
			if k.index >= mark {
				x.kind.mode = placeLate
			}
			return x, true
		case variable:
			if !e.info[k].single {
				x.kind = place{mode: placeLoad, register: p.registers.load(e, k, typeAny)}
			}
			return x, true
		}
	}
	return x, false
}

// kinds replaces a goal for an unknown kind of object by a disjunction over all kinds.
func (p *patternMaker) kinds(g goal, t template, tree template, r *result) error {
	q, args, _ := goalOfTemplate(t)
	v := p.vocabulary
	var or template
	for k := len(v.KindTerms) - 1; k > 0; k-- {
		kind := constant(p.interner.kind(change.Kind(k)))
		b := compoundTemplate{syntax.AtomComma, []template{
			compoundTemplate{atomEquals, []template{tree, kind}},
			compoundTemplate{q.Name, append([]template{kind}, args[1:]...)}}}
		if or == nil {
			or = b
		} else {
			or = compoundTemplate{syntax.AtomOr, []template{b, or}}
		}
	}
	if or == nil {
		r.dead = true
		return nil
	}
	r.again, r.goals = true, []goal{{or, g.at}}
	return nil
}

// fieldOf returns the field that a template names; ok is false if the schema has no such field.
func (p *patternMaker) fieldOf(e *bindings, t template) (f change.Field, ok bool) {
	var b strings.Builder
	switch t := e.walk(t).(type) {
	case constant:
		if t.tag != tagAtom {
			return 0, false
		}
		b.WriteString(engine.Atom(t.n).String())
	case compoundTemplate:
		b.WriteString(t.functor.String())
		for i, a := range t.args {
			c, isConstant := e.walk(a).(constant)
			if !isConstant || c.tag != tagAtom {
				return 0, false
			}
			b.WriteByte("(,"[min(i, 1)])
			b.WriteString(engine.Atom(c.n).String())
		}
		b.WriteByte(')')
	}
	f, ok = p.vocabulary.Fields[b.String()]
	return f, ok
}
