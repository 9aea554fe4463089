package invariants

import (
	_ "embed"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/ichiban/prolog/engine"

	"fsward/change"
	"fsward/invariants/syntax"
)

// definition is a predicate that rule text defines.
type definition struct {
	file    string
	line    int
	prelude bool
}

// parsedClause is a clause as a term.
type parsedClause struct {
	text       syntax.ClauseText
	head, body engine.Term // body is nil for a fact
	prelude    bool
	variables  map[engine.Variable]string // their names
}

// loader turns rule text into clauses.
type loader struct {
	vocabulary *vocabulary
	operators  syntax.Operators
	open       bool // Options.OpenVocabulary
	defined    map[syntax.Indicator]definition
	clauses    []parsedClause
	rules      []*rule
	errs       []error
}

// loadSet reads the prelude and files of rules for the file system of a schema. The error joins a LoadError for each
// mistake found, up to a bound. With open, kinds and fields that the schema does not have are accepted.
func loadSet(schema *change.Schema, files []syntax.File, open bool) (*loader, error) {
	l := &loader{vocabulary: newVocabulary(schema), operators: syntax.StandardOperators(), open: open, defined: map[syntax.Indicator]definition{}}
	if err := l.load(files); err != nil {
		return nil, err
	}
	return l, nil
}

// load reads the prelude and the files. It reports every mistake that it finds, up to a bound.
func (l *loader) load(files []syntax.File) error {
	var clauses []parsedClause
	clauses = append(clauses, l.read(syntax.File{Name: preludeName, Text: prelude}, true)...)
	for _, f := range files {
		clauses = append(clauses, l.read(f, false)...)
	}
	for _, c := range clauses {
		l.define(c)
	}
	for _, c := range clauses {
		l.check(c)
	}
	if len(l.errs) > 0 {
		if len(l.errs) > syntax.MaxLoadErrors {
			l.errs = append(l.errs[:syntax.MaxLoadErrors], errors.New("and more"))
		}
		return errors.Join(l.errs...)
	}
	l.clauses = clauses
	for _, c := range clauses {
		l.noteClause(c)
	}
	return nil
}

func (l *loader) fail(c syntax.ClauseText, format string, args ...any) {
	l.errs = append(l.errs, c.Errorf(format, args...))
}

// read splits and parses a file.
func (l *loader) read(f syntax.File, isPrelude bool) (clauses []parsedClause) {
	texts, err := syntax.Split(f)
	if joined, ok := err.(interface{ Unwrap() []error }); ok {
		l.errs = append(l.errs, joined.Unwrap()...)
	} else if err != nil {
		l.errs = append(l.errs, err)
	}
	for _, text := range texts {
		t, names, err := syntax.ParseNamed(text, l.operators)
		if err != nil {
			l.errs = append(l.errs, err)
			continue
		}
		c := parsedClause{text: text, head: t, prelude: isPrelude, variables: names}
		if rule, ok := t.(engine.Compound); ok && rule.Functor() == syntax.AtomIf {
			if rule.Arity() == 1 {
				l.directive(text, rule.Arg(0))
				continue
			}
			c.head, c.body = rule.Arg(0), rule.Arg(1)
		}
		clauses = append(clauses, c)
	}
	return clauses
}

// directive runs the one directive that there is, op/3: it changes how the text after it is read.
func (l *loader) directive(text syntax.ClauseText, t engine.Term) {
	c, ok := t.(engine.Compound)
	if !ok || c.Functor().String() != "op" || c.Arity() != 3 {
		l.fail(text, "the directive %s is not allowed; only op/3 is", syntax.TermText(t, nil))
		return
	}
	priority, ok1 := c.Arg(0).(engine.Integer)
	kind, ok2 := c.Arg(1).(engine.Atom)
	name, ok3 := c.Arg(2).(engine.Atom)
	switch {
	case !ok1 || !ok2 || !ok3 || priority < 1 || priority > syntax.MaxPriority:
		l.fail(text, "op/3 takes a priority from 1 to %d, a type and one name", syntax.MaxPriority)
	case syntax.StandardOperators().Has(name.String()):
		l.fail(text, "op/3 may only define an operator of your own, not %s", syntax.TermText(name, nil))
	case !l.operators.Define(int(priority), kind.String(), name.String()):
		l.fail(text, "op/3 has no type %s here: xfx, xfy, yfx, fy or fx", syntax.TermText(kind, nil))
	}
}

// define notes the predicate or the rule that a clause belongs to.
func (l *loader) define(c parsedClause) {
	p, ok := syntax.IndicatorOf(c.head)
	switch _, isBuiltin := builtinGoals[p]; {
	case !ok:
		l.fail(c.text, "the head of a clause must be a predicate")
		return
	case isBuiltin:
		l.fail(c.text, "%s is built in and cannot be defined again", p)
		return
	case p.Name == syntax.AtomViolation:
		l.defineRule(c)
		return
	case p.Name == syntax.AtomCut || p.Name == syntax.AtomIf || p.Arity > 8:
		l.fail(c.text, "%s cannot be defined", p)
		return
	}
	d, again := l.defined[p]
	switch {
	case !again:
		l.defined[p] = definition{c.text.File, c.text.Line, c.prelude}
	case d.prelude && !c.prelude:
		l.fail(c.text, "%s is built in and cannot be defined again", p)
	case d.file != c.text.File:
		l.fail(c.text, "%s is already defined at %s:%d; define a predicate in one file", p, d.file, d.line)
	}
}

// defineRule notes a clause of violation(NUMBER, TREE, ID).
func (l *loader) defineRule(c parsedClause) {
	head, ok := c.head.(engine.Compound)
	if !ok || head.Arity() != 3 {
		l.fail(c.text, "violation takes three arguments: violation(NUMBER, TREE, ID)")
		return
	}
	number := head.Arg(0)
	var text string
	switch n := number.(type) {
	case engine.Atom:
		text = n.String()
	case engine.Integer:
		text = fmt.Sprint(int64(n))
	default:
		l.fail(c.text, "the first argument of violation must be the rule's number, or an atom that names it")
		return
	}
	source := fmt.Sprintf("%s:%d", c.text.File, c.text.Line)
	r := l.ruleOf(number)
	if r == nil {
		d := c.text.RuleDoc(text)
		r = &rule{file: c.text.File, number: number, order: int32(len(l.rules))}
		r.Rule = Rule{Name: text, Doc: d.Doc, Source: source, Origin: d.Origin, User: d.User, Severity: d.Severity}
		if fs := l.vocabulary.schema.FS; fs != "" {
			r.Name = fs + "/" + text
		}
		l.rules = append(l.rules, r)
	}
	if r.file != c.text.File {
		l.fail(c.text, "rule %s is already at %s; keep a rule in one file", text, r.Source)
		return
	}
	if n := len(r.clauses); n > 0 && r.clauses[n-1].source == source {
		return // two clauses on one line are one goal
	}
	r.clauses = append(r.clauses, ruleClause{engine.NewAtom(fmt.Sprintf("$violation %s %d", text, len(r.clauses))), source, int32(len(r.clauses))})
}

func (l *loader) ruleOf(number engine.Term) *rule {
	for _, r := range l.rules {
		if r.number == number {
			return r
		}
	}
	return nil
}

// goalOf returns the goal of the clause of a rule at a source line. Two clauses on one line share it.
func (l *loader) goalOf(number engine.Term, source string) engine.Atom {
	for _, c := range l.ruleOf(number).clauses {
		if c.source == source {
			return c.goal
		}
	}
	return syntax.AtomIf // not reached: define noted every clause
}

// noteClause tells the vocabulary the atoms in a clause; the number of a rule is none.
func (l *loader) noteClause(c parsedClause) {
	if p, _ := syntax.IndicatorOf(c.head); p.Name == syntax.AtomViolation {
		v := c.head.(engine.Compound)
		l.noteLiterals(v.Arg(1))
		l.noteLiterals(v.Arg(2))
	} else {
		l.noteLiterals(c.head)
	}
	if c.body != nil {
		l.noteLiterals(c.body)
	}
}

// noteLiterals tells the vocabulary the atoms in a term.
func (l *loader) noteLiterals(t engine.Term) {
	switch t := t.(type) {
	case engine.Atom:
		l.vocabulary.addLiteral(t)
	case engine.Compound:
		for i := range t.Arity() {
			l.noteLiterals(t.Arg(i))
		}
	}
}

// checkGoal checks a goal that is asked and is no part of a clause, and tells the vocabulary its atoms.
func (l *loader) checkGoal(text syntax.ClauseText, goal engine.Term) error {
	l.errs = nil
	l.check(parsedClause{text: text, head: engine.NewAtom("query"), body: goal})
	if err := errors.Join(l.errs...); err != nil {
		return err
	}
	l.noteLiterals(goal)
	return nil
}

// allowViolation makes violation/3 a predicate that a goal may call.
func (l *loader) allowViolation() {
	l.defined[syntax.Indicator{Name: syntax.AtomViolation, Arity: 3}] = definition{}
}

// predicates lists what goals can call, as NAME/ARITY, sorted.
func (l *loader) predicates() []string {
	var out []string
	for q := range builtinGoals {
		out = append(out, q.String())
	}
	for q := range l.defined {
		out = append(out, q.String())
	}
	out = slices.DeleteFunc(out, func(s string) bool { return strings.Contains(s, "$") })
	slices.Sort(out)
	return out
}

const preludeName = "invariants/prelude.pl"

//go:embed prelude.pl
var prelude []byte
