package invariants

import (
	"context"
	"errors"
	"fmt"

	"github.com/ichiban/prolog/engine"

	"fsward/change"
)

// A rule is all clauses of violation/3 with one number.
type rule struct {
	Rule
	file    string
	number  engine.Term
	order   int32 // among the rules
	clauses []ruleClause
}

// A ruleClause is one clause of a rule. Each is a predicate of its own, goal(TREE, ID), so that a
// violation can name the line of the clause that found it.
type ruleClause struct {
	goal   engine.Atom
	source string
	order  int32 // among the clauses of the rule
}

// definition is a predicate that rule text defines.
type definition struct {
	file    string
	line    int
	prelude bool
}

// parsedClause is a clause as a term.
type parsedClause struct {
	text       clauseText
	head, body engine.Term // body is nil for a fact
	prelude    bool
	variables  map[engine.Variable]string // their names
}

// loader turns rule text into clauses of the interpreter.
type loader struct {
	vm         *engine.VM
	vocabulary *vocabulary
	operators  operators
	builtins   map[indicator]builtin
	open       bool // Options.OpenVocabulary
	defined    map[indicator]definition
	clauses    []parsedClause
	rules      []*rule
	errs       []error
}

// load reads the prelude and the files and puts their clauses into the interpreter. It reports every
// mistake that it finds, up to a bound.
func (l *loader) load(files []File) error {
	var clauses []parsedClause
	clauses = append(clauses, l.read(File{preludeName, prelude}, true)...)
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
		if len(l.errs) > maxLoadErrors {
			l.errs = append(l.errs[:maxLoadErrors], errors.New("and more"))
		}
		return errors.Join(l.errs...)
	}
	l.clauses = clauses
	for _, c := range clauses {
		if err := l.add(c); err != nil {
			return c.text.errorf("%s", err)
		}
	}
	return nil
}

func (l *loader) fail(c clauseText, format string, args ...any) {
	l.errs = append(l.errs, c.errorf(format, args...))
}

// read splits and parses a file.
func (l *loader) read(f File, isPrelude bool) (clauses []parsedClause) {
	texts, err := split(f)
	if joined, ok := err.(interface{ Unwrap() []error }); ok {
		l.errs = append(l.errs, joined.Unwrap()...)
	} else if err != nil {
		l.errs = append(l.errs, err)
	}
	for _, text := range texts {
		t, names, err := parseNamed(text, l.operators)
		if err != nil {
			l.errs = append(l.errs, err)
			continue
		}
		c := parsedClause{text: text, head: t, prelude: isPrelude, variables: names}
		if rule, ok := t.(engine.Compound); ok && rule.Functor() == atomIf {
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
func (l *loader) directive(text clauseText, t engine.Term) {
	c, ok := t.(engine.Compound)
	if !ok || c.Functor().String() != "op" || c.Arity() != 3 {
		l.fail(text, "the directive %s is not allowed; only op/3 is", termText(t, nil))
		return
	}
	priority, ok1 := c.Arg(0).(engine.Integer)
	kind, ok2 := c.Arg(1).(engine.Atom)
	name, ok3 := c.Arg(2).(engine.Atom)
	switch {
	case !ok1 || !ok2 || !ok3 || priority < 1 || priority > maxPriority:
		l.fail(text, "op/3 takes a priority from 1 to %d, a type and one name", maxPriority)
	case standardOperators().has(name.String()):
		l.fail(text, "op/3 may only define an operator of your own, not %s", termText(name, nil))
	case !l.operators.define(int(priority), kind.String(), name.String()):
		l.fail(text, "op/3 has no type %s here: xfx, xfy, yfx, fy or fx", termText(kind, nil))
	}
}

// indicatorOf returns the predicate of a goal or head; ok is false if it is none.
func indicatorOf(t engine.Term) (p indicator, ok bool) {
	switch t := t.(type) {
	case engine.Atom:
		return indicator{t, 0}, true
	case engine.Compound:
		return indicator{t.Functor(), t.Arity()}, true
	default:
		return indicator{}, false
	}
}

func (p indicator) String() string { return fmt.Sprintf("%s/%d", atomText(p.name.String()), p.arity) }

var atomViolation = engine.NewAtom("violation")

// define notes the predicate or the rule that a clause belongs to.
func (l *loader) define(c parsedClause) {
	p, ok := indicatorOf(c.head)
	switch _, isBuiltin := l.builtins[p]; {
	case !ok:
		l.fail(c.text, "the head of a clause must be a predicate")
		return
	case isBuiltin:
		l.fail(c.text, "%s is built in and cannot be defined again", p)
		return
	case p.name == atomViolation:
		l.defineRule(c)
		return
	case p.name == atomCut || p.name == atomIf || p.arity > 8:
		l.fail(c.text, "%s cannot be defined", p)
		return
	}
	d, again := l.defined[p]
	switch {
	case !again:
		l.defined[p] = definition{c.text.file, c.text.line, c.prelude}
	case d.prelude && !c.prelude:
		l.fail(c.text, "%s is built in and cannot be defined again", p)
	case d.file != c.text.file:
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
	source := fmt.Sprintf("%s:%d", c.text.file, c.text.line)
	r := l.ruleOf(number)
	if r == nil {
		block := c.text.blocks[text]
		if block == nil {
			block = c.text.above
		}
		d := parseDoc(block)
		r = &rule{file: c.text.file, number: number, order: int32(len(l.rules))}
		r.Rule = Rule{Name: text, Doc: d.doc, Source: source, Origin: d.origin, User: d.user, Severity: d.severity}
		if fs := l.vocabulary.schema.FS; fs != "" {
			r.Name = fs + "/" + text
		}
		l.rules = append(l.rules, r)
	}
	if r.file != c.text.file {
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

// add puts a clause into the interpreter. '$step' is put before its body, and the head of a rule becomes
// the goal of its own clause.
func (l *loader) add(c parsedClause) error {
	head, body := c.head, c.body
	if p, _ := indicatorOf(head); p.name == atomViolation {
		v := head.(engine.Compound)
		head = l.goalOf(v.Arg(0), fmt.Sprintf("%s:%d", c.text.file, c.text.line)).Apply(v.Arg(1), v.Arg(2))
	}
	l.noteLiterals(head)
	if body == nil {
		return l.assert(head)
	}
	l.noteLiterals(body)
	// A disjunction that is the whole body is two clauses: the interpreter runs those faster.
	for {
		or, ok := body.(engine.Compound)
		if !ok || or.Functor() != atomOr || or.Arity() != 2 || isFunctor(or.Arg(0), atomThen, 2) {
			break
		}
		if err := l.assert(atomIf.Apply(head, atomComma.Apply(atomStep, or.Arg(0)))); err != nil {
			return err
		}
		body = or.Arg(1)
	}
	return l.assert(atomIf.Apply(head, atomComma.Apply(atomStep, body)))
}

func isFunctor(t engine.Term, name engine.Atom, arity int) bool {
	p, ok := indicatorOf(t)
	return ok && p == indicator{name, arity}
}

// goalOf returns the goal of the clause of a rule at a source line. Two clauses on one line share it.
func (l *loader) goalOf(number engine.Term, source string) engine.Atom {
	for _, c := range l.ruleOf(number).clauses {
		if c.source == source {
			return c.goal
		}
	}
	return atomIf // not reached: define noted every clause
}

func (l *loader) assert(t engine.Term) error {
	_, err := engine.Assertz(l.vm, t, engine.Success, nil).Force(context.Background())
	return err
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

// newLoader returns a loader with an interpreter of the builtins alone.
func newLoader(schema *change.Schema, list []builtin, open bool) *loader {
	l := &loader{vm: newVM(list), vocabulary: newVocabulary(schema), operators: standardOperators(), open: open,
		builtins: map[indicator]builtin{}, defined: map[indicator]definition{}}
	for _, b := range list {
		l.builtins[b.indicator] = b
	}
	return l
}
