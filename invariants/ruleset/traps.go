package ruleset

import (
	"slices"

	"github.com/ichiban/prolog/engine"

	"fsward/change"
	"fsward/invariants/syntax"
)

// Traps returns the mistakes in rules that load and run, but can never find what they look for: a
// word that no field has, a recursion without an end. In the files of a site they are errors of
// Load.
func (l *Set) Traps() []syntax.LoadError { return l.traps }

// findTraps finds the traps in clauses that have no other mistake.
func (l *Set) findTraps(clauses []ParsedClause) {
	terminating := map[syntax.Indicator]bool{} // of a predicate with a clause that does not call it
	for _, c := range clauses {
		if p, ok := syntax.IndicatorOf(c.Head); ok && !slices.ContainsFunc(Conjuncts(c.Body),
			func(g engine.Term) bool { q, _ := syntax.IndicatorOf(g); return q == p }) {
			terminating[p] = true
		}
	}
	for _, c := range clauses {
		if c.prelude {
			continue
		}
		t := &trapFinder{set: l, clause: c, values: map[engine.Variable]valueOf{}}
		t.recursion(terminating)
		if !l.Open && c.Body != nil {
			t.goals(c.Body, t.value)
			t.goals(c.Body, t.comparison)
		}
		for _, err := range t.found {
			if l.traps = append(l.traps, err); c.site {
				l.errs = append(l.errs, err)
			}
		}
	}
}

// A trapFinder looks for traps in one clause.
type trapFinder struct {
	set    *Set
	clause ParsedClause
	values map[engine.Variable]valueOf // variables that stand for values
	found  []syntax.LoadError
}

// A valueOf identifies the kind and the field of a value. The kind may be 0.
type valueOf struct {
	field change.Field
	kind  change.Kind
	text  string // the field
}

func (t *trapFinder) add(word, format string, args ...any) {
	if err := t.clause.Text.ErrorAt(word, format, args...); !slices.Contains(t.found, err) {
		t.found = append(t.found, err)
	}
}

// Conjuncts returns the goals of a conjunction.
func Conjuncts(body engine.Term) []engine.Term {
	if body == nil {
		return nil
	}
	if c, ok := body.(engine.Compound); ok && syntax.IsFunctor(body, syntax.AtomComma, 2) {
		return append(Conjuncts(c.Arg(0)), Conjuncts(c.Arg(1))...)
	}
	return []engine.Term{body}
}

// recursion finds a clause that calls itself with the arguments of its head, and a predicate that
// calls itself in each of its clauses. ends has the predicates that do not.
func (t *trapFinder) recursion(terminating map[syntax.Indicator]bool) {
	head := t.clause.Head
	p, ok := syntax.IndicatorOf(head)
	if !ok || p.Name == syntax.AtomViolation {
		return
	}
	for _, g := range Conjuncts(t.clause.Body) {
		if identical(g, head) {
			t.add(p.Name.String(), "%s calls itself with the same arguments: a recursion without an "+
				"end; docs/user/rules.md shows how to walk where there may be a cycle", p)
			return
		}
	}
	if t.clause.Body != nil && !terminating[p] {
		t.add(p.Name.String(), "each clause of %s calls it again: a recursion without an end; "+
			"add a clause that does not", p)
	}
}

// identical reports whether two terms are the same, variables included.
func identical(a, b engine.Term) bool {
	x, ok := a.(engine.Compound)
	if !ok {
		if _, compound := b.(engine.Compound); compound {
			return false
		}
		return a == b
	}
	y, ok := b.(engine.Compound)
	if !ok || x.Functor() != y.Functor() || x.Arity() != y.Arity() {
		return false
	}
	for i := range x.Arity() {
		if !identical(x.Arg(i), y.Arg(i)) {
			return false
		}
	}
	return true
}

// goals calls visit for each goal of a body, and for the goals among their arguments.
func (t *trapFinder) goals(body engine.Term, visit func(syntax.Indicator, engine.Compound)) {
	c, ok := body.(engine.Compound)
	if !ok {
		return
	}
	p, _ := syntax.IndicatorOf(body)
	visit(p, c)
	inner, ok := Builtins[p]
	if !ok {
		inner = PreludeGoals[p]
	}
	for _, g := range inner {
		if g.More == 0 {
			t.goals(c.Arg(g.Arg), visit)
		}
	}
}

// valueArgs gives the positions of the values of a field, by the predicate.
var valueArgs = map[syntax.Indicator][]int{
	syntax.Pred("change", 5):       {3, 4},
	syntax.Pred("default_zero", 5): {3, 4},
	syntax.Pred("query", 4):        {3},
	syntax.Pred("new", 4):          {3},
	syntax.Pred("old", 4):          {3},
}

// value checks the words that a goal compares with the value of a field, and notes the variables
// that stand for values. It finds a change of a field that no change record has.
func (t *trapFinder) value(p syntax.Indicator, goal engine.Compound) {
	args, ok := objectArgs[p]
	if !ok || args.field < 0 || !syntax.Ground(goal.Arg(args.field)) {
		return
	}
	f, known := t.set.Vocabulary.Field(goal.Arg(args.field), nil)
	if !known {
		return
	}
	of := valueOf{f, t.set.checkObject(t.clause, goal.Arg(0), goal.Arg(1)),
		syntax.TermText(goal.Arg(args.field), nil)}
	if p.Name != atomQuery && of.info(t).QueryOnly {
		t.add(lastWord(goal.Arg(args.field)), "%s of %s can only be queried: no change record has it; "+
			"start with another change, and ask query/4", of.text,
			t.set.Vocabulary.Schema.KindName(of.kind))
	}
	for _, i := range valueArgs[p] {
		switch x := goal.Arg(i).(type) {
		case engine.Variable:
			t.values[x] = of
		case engine.Atom:
			t.word(x, of)
		}
	}
}

var atomQuery = engine.NewAtom("query")

// info describes the values.
func (v valueOf) info(t *trapFinder) change.FieldInfo {
	return t.set.Vocabulary.Schema.Info(v.kind, v.field)
}

// comparison checks the words that are compared with a variable that stands for a value.
func (t *trapFinder) comparison(p syntax.Indicator, goal engine.Compound) {
	if p.Arity != 2 || !slices.Contains([]string{"==", `\==`, "=", `\=`}, p.Name.String()) {
		return
	}
	for i := range 2 {
		v, isVariable := goal.Arg(i).(engine.Variable)
		word, isAtom := goal.Arg(1 - i).(engine.Atom)
		if field, known := t.values[v]; isVariable && isAtom && known {
			t.word(word, field)
		}
	}
}

// word checks a word that is compared with the value of a field.
func (t *trapFinder) word(word engine.Atom, field valueOf) {
	schema, text, info := t.set.Vocabulary.Schema, word.String(), field.info(t)
	of, where := schema.Words, schema.FS
	if len(info.Words) > 0 {
		of, where = info.Words, field.text
	}
	isWord := slices.Contains(of, text) || field.field == change.FieldObject && text == "present"
	quoted := t.clause.Text.Quoted(text)
	switch {
	case word == syntax.AtomNull:
	case isWord && quoted:
		t.add(text, "'%s' is a name in quotes; write the word %s without quotes", text, text)
	case quoted && info.Type == change.TypeName || isWord && info.Type == change.TypeWord:
	case info.Unit != "" && info.Type == change.TypeNumber:
		t.add(text, "%s is a number (%s), and never %s", field.text, info.Unit,
			syntax.TermText(word, nil))
	case !isWord && !quoted:
		t.add(text, "%s is not a word of %s (a name needs quotes)%s", syntax.TermText(word, nil), where,
			suggest(text, slices.Clone(of)))
	}
}
