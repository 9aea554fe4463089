package ruleset

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

// A definition is a predicate that rule text defines.
type definition struct {
	file    string
	line    int
	prelude bool
}

// A ParsedClause is a clause as a term.
type ParsedClause struct {
	Text       syntax.ClauseText
	Head, Body engine.Term // Body is nil for a fact
	prelude    bool
	site       bool                       // of a site's file
	Variables  map[engine.Variable]string // the names of the variables
}

// Prelude reports whether the clause is of the prelude.
func (c ParsedClause) Prelude() bool { return c.prelude }

// A Set is a set of rules: its clauses, its vocabulary, and the predicates that it defines.
type Set struct {
	Vocabulary *Vocabulary
	Operators  syntax.Operators
	Open       bool // Options.OpenVocabulary
	options    Options
	defined    map[syntax.Indicator]definition
	Clauses    []ParsedClause
	Rules      []*LoadedRule
	byNumber   map[engine.Term]*LoadedRule
	errs       []error
	traps      []syntax.LoadError
}

// Load reads the prelude and files of rules for the file system of a schema. The error joins a
// LoadError for each mistake found, up to syntax.MaxLoadErrors.
func Load(schema *change.Schema, files []syntax.File, options Options) (*Set, error) {
	l := &Set{Vocabulary: newVocabulary(schema), Operators: syntax.StandardOperators(),
		Open: options.OpenVocabulary, options: options, defined: map[syntax.Indicator]definition{},
		byNumber: map[engine.Term]*LoadedRule{}}
	if err := l.load(files); err != nil {
		return nil, err
	}
	return l, nil
}

// load reads the prelude and the files. It reports every mistake that it finds, up to
// syntax.MaxLoadErrors.
func (l *Set) load(files []syntax.File) error {
	clauses := l.read(syntax.File{Name: preludeName, Text: prelude}, true)
	var own []ParsedClause
	for _, f := range files {
		own = append(own, l.read(f, false)...)
	}
	clauses = append(append(clauses, l.added(own)...), own...)
	for _, c := range clauses {
		l.define(c)
	}
	for _, c := range clauses {
		if len(l.errs) > syntax.MaxLoadErrors {
			break // a hint for each of thousands of unknown names takes minutes, and none is shown
		}
		l.check(c)
	}
	if len(l.errs) == 0 {
		l.findTraps(clauses)
	}
	if len(l.errs) > 0 {
		if len(l.errs) > syntax.MaxLoadErrors {
			l.errs = append(l.errs[:syntax.MaxLoadErrors], errors.New("and more"))
		}
		return errors.Join(l.errs...)
	}
	l.hashRules(clauses)
	l.Clauses = l.withoutOff(clauses)
	for _, c := range l.Clauses {
		l.noteClause(c)
	}
	return nil
}

// failAt reports a mistake at a word of a clause.
func (l *Set) failAt(c syntax.ClauseText, word, format string, args ...any) {
	l.errs = append(l.errs, c.ErrorAt(word, format, args...))
}

func (l *Set) fail(c syntax.ClauseText, format string, args ...any) {
	l.errs = append(l.errs, c.Errorf(format, args...))
}

// read splits and parses a file.
func (l *Set) read(f syntax.File, isPrelude bool) (clauses []ParsedClause) {
	texts, err := syntax.Split(f)
	if joined, ok := err.(interface{ Unwrap() []error }); ok {
		l.errs = append(l.errs, joined.Unwrap()...)
	} else if err != nil {
		l.errs = append(l.errs, err)
	}
	for _, text := range texts {
		t, names, err := syntax.ParseNamed(text, l.Operators)
		if err != nil {
			l.errs = append(l.errs, err)
			continue
		}
		c := ParsedClause{Text: text, Head: t, prelude: isPrelude, site: f.Site,
			Variables: names}
		if rule, ok := t.(engine.Compound); ok && rule.Functor() == syntax.AtomIf {
			if rule.Arity() == 1 {
				l.directive(text, rule.Arg(0))
				continue
			}
			c.Head, c.Body = rule.Arg(0), rule.Arg(1)
		}
		c.Head = l.named(text, c.Head, f.Site)
		clauses = append(clauses, c)
	}
	return clauses
}

// directive executes op/3, the only directive: it changes how the following text is parsed.
func (l *Set) directive(text syntax.ClauseText, t engine.Term) {
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
	case !l.Operators.Define(int(priority), kind.String(), name.String()):
		l.fail(text, "op/3 has no type %s here: xfx, xfy, yfx, fy or fx", syntax.TermText(kind, nil))
	}
}

// define records the predicate or the rule that a clause belongs to.
func (l *Set) define(c ParsedClause) {
	p, ok := syntax.IndicatorOf(c.Head)
	switch _, isBuiltin := Builtins[p]; {
	case !ok:
		l.fail(c.Text, "the head of a clause must be a predicate")
		return
	case isBuiltin:
		l.fail(c.Text, "%s is built in and cannot be defined again", p)
		return
	case p.Name == syntax.AtomViolation:
		l.defineRule(c)
		return
	case p.Name == syntax.AtomCut || p.Name == syntax.AtomIf || p.Arity > 8:
		l.fail(c.Text, "%s cannot be defined", p)
		return
	}
	d, again := l.defined[p]
	switch {
	case !again:
		l.defined[p] = definition{c.Text.File, c.Text.Line, c.prelude}
	case d.prelude && !c.prelude:
		l.fail(c.Text, "%s is built in and cannot be defined again", p)
	case d.file != c.Text.File:
		l.fail(c.Text, "%s is already defined at %s:%d; define a predicate in one file", p, d.file,
			d.line)
	}
}

// defineRule records a clause of violation(NUMBER, TREE, ID).
func (l *Set) defineRule(c ParsedClause) {
	head, ok := c.Head.(engine.Compound)
	if !ok || head.Arity() != 3 {
		l.fail(c.Text, "violation takes three arguments: violation(NUMBER, TREE, ID)")
		return
	}
	number := head.Arg(0)
	text, ok := ruleText(number)
	if !ok {
		l.fail(c.Text, "the first argument of violation must be the rule's number, "+
			"or an atom that names it")
		return
	}
	source := fmt.Sprintf("%s:%d", c.Text.File, c.Text.Line)
	r := l.byNumber[number]
	if r == nil {
		r = l.newRule(c, number, text, source)
		l.Rules, l.byNumber[number] = append(l.Rules, r), r
	} else if r.file == c.Text.File && c.Text.Describes() && !c.Text.DescribedBy(text) {
		l.fail(c.Text, "a second rule %s: the first is at %s; give this one another number", text,
			r.Source)
		return
	}
	if r.file != c.Text.File {
		l.fail(c.Text, "rule %s is already at %s; keep a rule in one file", text, r.Source)
		return
	}
	if n := len(r.Clauses); n > 0 && r.Clauses[n-1].Source == source {
		return // two clauses on one line share a goal
	}
	r.Clauses = append(r.Clauses, RuleClause{engine.NewAtom(fmt.Sprintf("$violation %s %d", text,
		len(r.Clauses))), source, int32(len(r.Clauses))})
}

// RuleName returns the name of the rule with a number.
func (l *Set) RuleName(number engine.Term) string {
	if r := l.byNumber[number]; r != nil {
		return r.Name
	}
	return ""
}

// GoalOf returns the goal of the clause of a rule at a source line. Two clauses on one line share a
// goal.
func (l *Set) GoalOf(number engine.Term, source string) engine.Atom {
	for _, c := range l.byNumber[number].Clauses {
		if c.Source == source {
			return c.Goal
		}
	}
	return syntax.AtomIf // not reached: define recorded every clause
}

// noteClause adds the atoms of a clause to the vocabulary, except the number of a rule.
func (l *Set) noteClause(c ParsedClause) {
	if p, _ := syntax.IndicatorOf(c.Head); p.Name == syntax.AtomViolation {
		v := c.Head.(engine.Compound)
		l.noteLiterals(v.Arg(1))
		l.noteLiterals(v.Arg(2))
	} else {
		l.noteLiterals(c.Head)
	}
	if c.Body != nil {
		l.noteLiterals(c.Body)
	}
}

// noteLiterals adds the atoms of a term to the vocabulary.
func (l *Set) noteLiterals(t engine.Term) {
	switch t := t.(type) {
	case engine.Atom:
		l.Vocabulary.addLiteral(t)
	case engine.Compound:
		for i := range t.Arity() {
			l.noteLiterals(t.Arg(i))
		}
	}
}

// CheckGoal checks a goal that a person asks and adds its atoms to the vocabulary.
func (l *Set) CheckGoal(text syntax.ClauseText, goal engine.Term) error {
	l.errs = nil
	l.check(ParsedClause{Text: text, Head: engine.NewAtom("query"), Body: goal})
	if err := errors.Join(l.errs...); err != nil {
		return err
	}
	l.noteLiterals(goal)
	return nil
}

// AllowViolation lets goals call violation/3.
func (l *Set) AllowViolation() {
	l.defined[syntax.Indicator{Name: syntax.AtomViolation, Arity: 3}] = definition{}
}

// Predicates lists the predicates that goals can call, as NAME/ARITY, sorted.
func (l *Set) Predicates() []string {
	var out []string
	for q := range Builtins {
		out = append(out, q.String())
	}
	for q := range l.defined {
		out = append(out, q.String())
	}
	out = slices.DeleteFunc(out, func(s string) bool { return strings.Contains(s, "$") })
	slices.Sort(out)
	return out
}

// added returns the clauses of the prelude that rules may define themselves: rules that are older
// than these predicates stay as they are.
func (l *Set) added(own []ParsedClause) []ParsedClause {
	clauses := l.read(syntax.File{Name: addedName, Text: added}, true)
	if _, hasLogs := l.Vocabulary.Fields["log_of"]; hasLogs {
		clauses = append(clauses, l.read(syntax.File{Name: addedBtrfsName, Text: addedBtrfs}, true)...)
	}
	defined := map[syntax.Indicator]bool{}
	for _, c := range own {
		if p, ok := syntax.IndicatorOf(c.Head); ok {
			defined[p] = true
		}
	}
	return slices.DeleteFunc(clauses, func(c ParsedClause) bool {
		p, _ := syntax.IndicatorOf(c.Head)
		return defined[p]
	})
}

const (
	addedName      = "invariants/ruleset/added.pl"
	addedBtrfsName = "invariants/ruleset/added_btrfs.pl"
)

//go:embed added.pl
var added []byte

//go:embed added_btrfs.pl
var addedBtrfs []byte

const preludeName = "invariants/ruleset/prelude.pl"

//go:embed prelude.pl
var prelude []byte
