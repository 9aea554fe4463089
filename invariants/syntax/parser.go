package syntax

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/ichiban/prolog/engine"
)

// An operator is a name with a place in expressions, as op/3 defines it.
type operator struct {
	Priority    int
	Left, Right int // the highest priority of its operands; Left is 0 for a prefix operator
}

// MaxPriority is the highest priority of an operator.
const MaxPriority = 1200

// operatorOf returns the operator for a type of op/3 and reports whether it is infix; ok is false
// for an unknown type and for postfix operators, which are not supported.
func operatorOf(priority int, kind string) (o operator, infix, ok bool) {
	switch kind {
	case "xfx":
		return operator{priority, priority - 1, priority - 1}, true, true
	case "xfy":
		return operator{priority, priority - 1, priority}, true, true
	case "yfx":
		return operator{priority, priority, priority - 1}, true, true
	case "fy":
		return operator{priority, 0, priority}, false, true
	case "fx":
		return operator{priority, 0, priority - 1}, false, true
	default:
		return operator{}, false, false
	}
}

// Operators are the operators in force: those of ISO Prolog for the functors that rules use, and
// those that op/3 defined.
type Operators struct{ prefix, Infix map[string]operator }

// StandardOperators returns the operators of ISO Prolog for the functors that rules use.
func StandardOperators() Operators {
	ops := Operators{map[string]operator{}, map[string]operator{}}
	for _, o := range []struct {
		priority int
		kind     string
		names    []string
	}{
		{1200, "xfx", []string{":-"}},
		{1200, "fx", []string{":-"}},
		{1100, "xfy", []string{";"}},
		{1050, "xfy", []string{"->"}},
		{1000, "xfy", []string{","}},
		{900, "fy", []string{`\+`}},
		{700, "xfx", []string{"=", `\=`, "==", `\==`, "@<", "@=<", "@>", "@>=", "=..", "is", "=:=", `=\=`,
			"<", "=<", ">", ">="}},
		{500, "yfx", []string{"+", "-", `/\`, `\/`, "xor"}},
		{400, "yfx", []string{"*", "//", "/", "div", "rem", "mod", "<<", ">>"}},
		{200, "fy", []string{"+", "-", `\`}},
	} {
		for _, name := range o.names {
			ops.Define(o.priority, o.kind, name)
		}
	}
	return ops
}

// Define adds an operator; it reports false if its type is not supported.
func (o Operators) Define(priority int, kind, name string) bool {
	op, infix, ok := operatorOf(priority, kind)
	switch {
	case ok && infix:
		o.Infix[name] = op
	case ok:
		o.prefix[name] = op
	}
	return ok
}

// Has reports whether a name is an operator.
func (o Operators) Has(name string) bool {
	_, prefix := o.prefix[name]
	_, infix := o.Infix[name]
	return prefix || infix
}

// parser turns the tokens of one clause into a term by operator precedence. The library's own
// parser gives no positions, has no numbers beyond 64 bits, and backtracks after an error. This one
// names the line of a mistake and looks at each token once. A test compares it with the library's.
type parser struct {
	clause    ClauseText
	operators Operators
	pos       int
	prefixes  int // prefix operators around the current token
	variables map[string]engine.Variable
}

// parse returns the term of a clause.
func parse(c ClauseText, ops Operators) (engine.Term, error) {
	t, _, err := ParseNamed(c, ops)
	return t, err
}

// ParseNamed is parse, and also returns the names of the variables.
func ParseNamed(c ClauseText, ops Operators) (engine.Term, map[engine.Variable]string, error) {
	p := &parser{clause: c, operators: ops, variables: map[string]engine.Variable{}}
	t, err := p.whole()
	if err != nil {
		return nil, nil, cmp.Or(c.unended(), err)
	}
	names := make(map[engine.Variable]string, len(p.variables))
	for name, v := range p.variables {
		names[v] = name
	}
	return t, names, nil
}

// ParseTerm reads the text of one term, with or without a full stop. It also returns the variables
// by name, and the tokens.
func ParseTerm(file, text string, ops Operators) (engine.Term, map[string]engine.Variable,
	ClauseText, error) {
	if text = strings.TrimSpace(text); !strings.HasSuffix(text, ".") {
		text += " ." // a full stop of its own, even after an operator
	}
	clauses, err := Split(File{Name: file, Text: []byte(text)})
	if err != nil {
		return nil, nil, ClauseText{}, err
	}
	if len(clauses) != 1 {
		return nil, nil, ClauseText{}, LoadError{File: file, Line: 1, Column: 1,
			Text: "write one goal; to ask for two together, write A, B"}
	}
	p := &parser{clause: clauses[0], operators: ops, variables: map[string]engine.Variable{}}
	t, err := p.whole()
	return t, p.variables, clauses[0], err
}

// whole reads the term that all tokens of the clause form.
func (p *parser) whole() (engine.Term, error) {
	t, err := p.term(MaxPriority)
	switch {
	case err != nil || p.pos == len(p.clause.tokens):
		return t, err
	case p.clause.tokens[0].text == ":-":
		return nil, p.errorf("unexpected %s; the only directive is :- op(PRIORITY, TYPE, NAME)",
			p.shown())
	default:
		return nil, p.errorf("unexpected %s%s", p.shown(), p.missing())
	}
}

// missing suggests what may be missing where one term follows another.
func (p *parser) missing() string {
	if !p.beginsTerm() {
		return ""
	}
	return "; is a comma or an operator missing before it?"
}

// errorf makes an error at the current token, or at the last one if there are no more.
func (p *parser) errorf(format string, args ...any) error {
	i := min(p.pos, len(p.clause.tokens)-1)
	line, column := p.clause.Line, 0
	if i >= 0 {
		line, column = p.clause.tokens[i].line, p.clause.tokens[i].column
	}
	return LoadError{p.clause.File, line, column, p.clause.head(), fmt.Sprintf(format, args...)}
}

// peek returns the current token; after the last token it returns a full stop.
func (p *parser) peek() token {
	if p.pos < len(p.clause.tokens) {
		return p.clause.tokens[p.pos]
	}
	return token{kind: tokenEnd}
}

func (p *parser) shown() string {
	switch t := p.peek(); t.kind {
	case tokenEnd:
		return "full stop"
	case tokenQuoted:
		return quoteAtom(t.text)
	case tokenInteger:
		return t.num.String()
	default:
		return t.text
	}
}

func (p *parser) isPunct(text string) bool {
	t := p.peek()
	return t.kind == tokenPunct && t.text == text
}

// expect consumes a bracket.
func (p *parser) expect(text string) error {
	if !p.isPunct(text) {
		return p.errorf("expected %s before %s%s", text, p.shown(), p.missing())
	}
	p.pos++
	return nil
}

// infix returns the infix operator at the current token; ok is false if there is none.
func (p *parser) infix() (name string, o operator, ok bool) {
	t := p.peek()
	if t.kind != tokenAtom && t.kind != tokenQuoted && (t.kind != tokenPunct || t.text != ",") {
		return "", operator{}, false
	}
	o, ok = p.operators.Infix[t.text]
	return t.text, o, ok
}

// term reads a term whose priority is at most highest.
func (p *parser) term(highest int) (engine.Term, error) {
	left, priority, err := p.primary(highest)
	if err != nil {
		return nil, err
	}
	for {
		name, o, ok := p.infix()
		if !ok || o.Priority > highest || priority > o.Left {
			return left, nil
		}
		p.pos++
		right, err := p.term(o.Right)
		if err != nil {
			return nil, err
		}
		left, priority = compound(engine.NewAtom(name), left, right), o.Priority
	}
}

// primary reads a term up to the first infix operator.
func (p *parser) primary(highest int) (t engine.Term, priority int, err error) {
	token := p.peek()
	switch token.kind {
	case tokenInteger:
		p.pos++
		return BigTerm(token.num), 0, nil
	case tokenVariable:
		p.pos++
		return p.variable(token.text), 0, nil
	case tokenAtom, tokenQuoted:
		p.pos++
		return p.afterName(token, highest)
	}
	switch {
	case p.isPunct("("):
		p.pos++
		if t, err = p.term(MaxPriority); err != nil {
			return nil, 0, err
		}
		return t, 0, p.expect(")")
	case p.isPunct("["):
		p.pos++
		t, err = p.list()
		return t, 0, err
	default:
		return nil, 0, p.errorf("expected a term before %s", p.shown())
	}
}

func (p *parser) variable(name string) engine.Term {
	if name == "_" {
		return engine.NewVariable()
	}
	v, ok := p.variables[name]
	if !ok {
		v = engine.NewVariable()
		p.variables[name] = v
	}
	return v
}

// afterName reads what begins with a name: a compound, a negative number, a prefix operator with
// its operand, or an atom.
func (p *parser) afterName(name token, highest int) (engine.Term, int, error) {
	next := p.peek()
	if p.isPunct("(") && !next.layout {
		p.pos++
		args, err := p.arguments()
		return compound(engine.NewAtom(name.text), args...), 0, err
	}
	// also "- 1", as in SWI-Prolog
	if name.kind == tokenAtom && name.text == "-" && next.kind == tokenInteger {
		p.pos++
		return BigTerm(Number{}.Sub(Number{Big: next.num}).wide()), 0, nil
	}
	o, isPrefix := p.operators.prefix[name.text]
	if !isPrefix || name.kind == tokenQuoted || o.Priority > highest || !p.beginsTerm() {
		return engine.NewAtom(name.text), 0, nil
	}
	if p.prefixes++; p.prefixes > maxNesting {
		return nil, 0, p.errorf(tooDeep)
	}
	operand, err := p.term(o.Right)
	if err != nil {
		return nil, 0, err
	}
	p.prefixes--
	return compound(engine.NewAtom(name.text), operand), o.Priority, nil
}

// beginsTerm reports whether an operand begins here. A name that is an infix operator and no prefix
// operator does not begin one, so in "- = X" the minus is an atom.
func (p *parser) beginsTerm() bool {
	switch t := p.peek(); t.kind {
	case tokenEnd:
		return false
	case tokenPunct:
		return t.text == "(" || t.text == "["
	case tokenAtom:
		_, infix := p.operators.Infix[t.text]
		_, prefix := p.operators.prefix[t.text]
		return !infix || prefix
	default:
		return true
	}
}

const ArgumentPriority = 999 // below the comma

// arguments reads the arguments of a compound, after the opening bracket.
func (p *parser) arguments() (args []engine.Term, err error) {
	for {
		a, err := p.term(ArgumentPriority)
		if err != nil {
			return nil, err
		}
		args = append(args, a)
		if !p.isPunct(",") {
			return args, p.expect(")")
		}
		p.pos++
	}
}

// list reads a list, after the opening bracket.
func (p *parser) list() (engine.Term, error) {
	if p.isPunct("]") {
		p.pos++
		return AtomEmptyList, nil
	}
	var items []engine.Term
	var rest engine.Term = AtomEmptyList
	for {
		a, err := p.term(ArgumentPriority)
		if err != nil {
			return nil, err
		}
		items = append(items, a)
		if !p.isPunct(",") {
			break
		}
		p.pos++
	}
	if p.isPunct("|") {
		p.pos++
		t, err := p.term(ArgumentPriority)
		if err != nil {
			return nil, err
		}
		rest = t
	}
	for i := len(items) - 1; i >= 0; i-- {
		rest = AtomDot.Apply(items[i], rest)
	}
	return rest, p.expect("]")
}

// compound makes a compound. In keys, a negative number becomes the unsigned number with the same
// 64 bits, which is the form of object ids in records.
func compound(functor engine.Atom, args ...engine.Term) engine.Term {
	switch {
	case functor == AtomK && len(args) == 3:
		args[0], args[2] = Unsigned(args[0]), Unsigned(args[2])
	case functor == AtomA && len(args) == 2:
		args[0], args[1] = Unsigned(args[0]), Unsigned(args[1])
	}
	return functor.Apply(args...)
}

// Unsigned turns a negative number into the unsigned number with the same 64 bits.
func Unsigned(t engine.Term) engine.Term {
	if i, ok := t.(engine.Integer); ok && i < 0 {
		return NumTerm(uint64(i))
	}
	return t
}
