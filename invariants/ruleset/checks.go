package ruleset

import (
	"slices"
	"strings"

	"github.com/ichiban/prolog/engine"

	"fsward/change"
	"fsward/invariants/syntax"
)

// objectArgs gives the positions of the arguments of predicates about objects: TREE is the first,
// ID the second.
var objectArgs = map[syntax.Indicator]struct {
	field int   // -1: none
	more  []int // further identifiers, and keys that bound a range
}{
	syntax.Pred("change", 5):         {2, nil},
	syntax.Pred("query", 2):          {-1, nil},
	syntax.Pred("query", 4):          {2, nil},
	syntax.Pred("previous", 3):       {-1, []int{2}},
	syntax.Pred("next", 3):           {-1, []int{2}},
	syntax.Pred("at_or_before", 3):   {-1, []int{2}},
	syntax.Pred("at_or_after", 3):    {-1, []int{2}},
	syntax.Pred("range", 4):          {-1, []int{2, 3}},
	syntax.Pred("range_down", 4):     {-1, []int{2, 3}},
	syntax.Pred("first_of_range", 4): {-1, nil},
	syntax.Pred("last_of_range", 4):  {-1, nil},
	syntax.Pred("add", 2):            {-1, nil},
	syntax.Pred("update", 2):         {-1, nil},
	syntax.Pred("delete", 2):         {-1, nil},
	syntax.Pred("new", 2):            {-1, nil},
	syntax.Pred("new", 4):            {2, nil},
	syntax.Pred("old", 2):            {-1, nil},
	syntax.Pred("old", 4):            {2, nil},
	syntax.Pred("delta", 4):          {2, nil},
	syntax.Pred("delta_count", 3):    {-1, nil},
	syntax.Pred("one_more", 3):       {-1, nil},
	syntax.Pred("default_zero", 5):   {2, nil},
}

// check looks for mistakes in the body of a clause that would show only at run time, or never.
func (l *Set) check(c ParsedClause) {
	if c.Body == nil {
		return
	}
	inRule := false
	if p, ok := syntax.IndicatorOf(c.Head); ok {
		inRule = p.Name == syntax.AtomViolation
	}
	l.checkBody(c, c.Body, inRule, true)
}

// checkBody checks a goal. A cut is allowed only on the first level of a helper's body: in a rule
// it would hide violations, and inside brackets the interpreter would not cut what other Prologs
// cut.
func (l *Set) checkBody(c ParsedClause, goal engine.Term, inRule, top bool) {
	if _, ok := goal.(engine.Variable); ok {
		return // the goal is the value of the variable at run time
	}
	p, ok := syntax.IndicatorOf(goal)
	if !ok {
		l.fail(c.Text, "%s is not a goal", syntax.TermText(goal, nil))
		return
	}
	if p.Name == syntax.AtomCut && p.Arity == 0 {
		switch {
		case inRule:
			l.fail(c.Text, "a cut in a rule would hide other violations; use once/1 or a helper predicate")
		case !top:
			l.fail(c.Text, "a cut inside ( ; ), ->, \\+ or another goal is not supported; "+
				"use a helper predicate")
		}
		return
	}
	if p == syntax.Pred(",", 2) {
		g := goal.(engine.Compound)
		l.checkBody(c, g.Arg(0), inRule, top)
		l.checkBody(c, g.Arg(1), inRule, top)
		return
	}
	if strings.HasPrefix(p.Name.String(), "$") && !c.prelude {
		l.failAt(c.Text, p.Name.String(),
			"unknown predicate %s: rules may not call predicates that begin with $", p)
		return
	}
	goals, isBuiltin := Builtins[p]
	if _, isDefined := l.defined[p]; !isBuiltin && !isDefined {
		l.failAt(c.Text, p.Name.String(), "unknown predicate %s%s", p, l.suggestPredicate(p))
		return
	}
	if !isBuiltin {
		goals = PreludeGoals[p]
	}
	for _, g := range goals {
		arg := goal.(engine.Compound).Arg(g.Arg)
		if g.More > 0 {
			l.checkClosure(c, arg, g.More)
			continue
		}
		l.checkBody(c, arg, inRule, false)
	}
	l.checkNames(c, goal, p)
}

// PreludeGoals lists the goals among the arguments of the prelude's predicates.
var PreludeGoals = map[syntax.Indicator][]goalArg{
	syntax.Pred("not", 1):    {{0, 0}},
	syntax.Pred("not", 2):    {{0, 0}, {1, 0}},
	syntax.Pred("verify", 1): {{0, 0}},
}

// checkClosure checks the first argument of call/N.
func (l *Set) checkClosure(c ParsedClause, t engine.Term, more int) {
	p, ok := syntax.IndicatorOf(t)
	if !ok {
		return
	}
	p.Arity += more
	_, isBuiltin := Builtins[p]
	if _, isDefined := l.defined[p]; !isBuiltin && !isDefined {
		l.failAt(c.Text, p.Name.String(), "unknown predicate %s%s", p, l.suggestPredicate(p))
	}
}

// checkNames checks the literal kinds and fields of a goal against the schema.
func (l *Set) checkNames(c ParsedClause, goal engine.Term, p syntax.Indicator) {
	args, ok := objectArgs[p]
	if !ok || l.Open {
		return
	}
	g := goal.(engine.Compound)
	kind := l.checkObject(c, g.Arg(0), g.Arg(1))
	for _, i := range args.more {
		if bound := g.Arg(i); i == 2 && g.Arity() == 3 || syntax.IsFunctor(bound, syntax.AtomK, 3) {
			l.checkObject(c, g.Arg(0), bound)
		}
	}
	if args.field < 0 {
		return
	}
	field := g.Arg(args.field)
	if !syntax.Ground(field) {
		return
	}
	f, known := l.Vocabulary.Field(field, nil)
	switch {
	case !known:
		l.failAt(c.Text, lastWord(field), "unknown field %s in %s%s", syntax.TermText(field, nil), p,
			suggest(syntax.TermText(field, nil), slices.Clone(l.Vocabulary.Schema.Fields)))
	case kind != 0 && f != change.FieldObject && !hasField(l.Vocabulary.Schema.Kinds[kind], f):
		l.failAt(c.Text, lastWord(field), "%s has no field %s; it has %s",
			l.Vocabulary.Schema.KindName(kind), syntax.TermText(field, nil), l.Vocabulary.fieldNames(kind))
	}
}

// kindNames returns the names of all kinds of objects.
func (v *Vocabulary) kindNames() (names []string) {
	for i := 1; i < len(v.Schema.Kinds); i++ {
		names = append(names, v.Schema.Kinds[i].Name)
	}
	return names
}

// fieldNames lists the fields of a kind for a message.
func (v *Vocabulary) fieldNames(k change.Kind) string {
	var names []string
	for _, f := range v.Schema.Kinds[k].Fields {
		names = append(names, v.Schema.FieldName(f))
	}
	if len(names) == 0 {
		return "none but object"
	}
	return strings.Join(names, ", ")
}

func hasField(k change.KindInfo, f change.Field) bool {
	for _, have := range k.Fields {
		if have == f {
			return true
		}
	}
	return false
}

// checkObject checks the kind in a literal TREE and ID and returns it, or 0 if none is written.
func (l *Set) checkObject(c ParsedClause, tree, id engine.Term) (kind change.Kind) {
	v := l.Vocabulary
	named := func(t engine.Term) {
		a, ok := t.(engine.Atom)
		if !ok {
			return
		}
		k, known := v.Kinds[a]
		if !known {
			l.failAt(c.Text, a.String(), "unknown kind of object %s%s", syntax.TermText(a, nil),
				l.suggestKind(a.String()))
			return
		}
		kind = k
	}
	if v.Schema.KindIsTree {
		named(tree)
	} else if a, ok := tree.(engine.Atom); ok {
		l.failAt(c.Text, a.String(), "a tree is a number, not %s%s", syntax.TermText(a, nil),
			l.kindElsewhere(a.String()))
	}
	key, ok := id.(engine.Compound)
	if !ok {
		return kind
	}
	switch {
	case key.Functor() == syntax.AtomK && key.Arity() == 3:
		named(key.Arg(1))
		if pair := syntax.IsFunctor(key.Arg(2), syntax.AtomA, 2); kind != 0 &&
			syntax.Ground(key.Arg(2)) || pair {
			want := change.ShapeKey
			if pair {
				want = change.ShapePair
			}
			if !v.shapeIs(kind, want) {
				l.fail(c.Text, "the identifier of %s has another form than %s", v.Schema.KindName(kind),
					syntax.TermText(id, nil))
			}
		}
	case key.Functor() == syntax.AtomA && key.Arity() == 2:
		if !v.shapeIs(kind, change.ShapeNums, change.ShapeNamed) {
			l.fail(c.Text, "the identifier of %s has another form than %s", v.Schema.KindName(kind),
				syntax.TermText(id, nil))
		}
	default:
		l.fail(c.Text, "%s is not an identifier of an object", syntax.TermText(id, nil))
	}
	return kind
}
