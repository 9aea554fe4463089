package syntax

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

const (
	maxFileBytes    = 4 << 20
	maxClauseTokens = 20000 // bounds the parser's recursion
	maxNesting      = 200   // maximal depth of brackets, and of prefix operators, in a clause
	MaxLoadErrors   = 50    // mistakes that are reported of one set of rules

	tooDeep = "the clause is too long or too deeply nested"
)

// A LoadError is a mistake in a rule file, at its place.
type LoadError struct {
	File   string
	Line   int
	Column int    // from 1, in bytes; 0: not known
	Clause string // the head of the clause as written, cut short; "" if the mistake comes before it
	Text   string
}

func (e LoadError) Error() string {
	at := Place(e.File, e.Line, e.Column)
	if e.Clause == "" {
		return fmt.Sprintf("%s: %s", at, e.Text)
	}
	return fmt.Sprintf("%s: in %s: %s", at, e.Clause, e.Text)
}

// Place returns FILE:LINE:COLUMN, or FILE:LINE if the column is 0.
func Place(file string, line, column int) string {
	if column == 0 {
		return fmt.Sprintf("%s:%d", file, line)
	}
	return fmt.Sprintf("%s:%d:%d", file, line, column)
}

// ClauseText is one clause of a file, as tokens.
type ClauseText struct {
	File   string
	Line   int
	tokens []token              // without the full stop
	above  []comment            // the comment lines directly above, without a blank line between
	blocks map[string][]comment // of the file: the comment blocks that begin with "Rule N.", by N
}

// Errorf makes a LoadError at the beginning of the clause.
func (c ClauseText) Errorf(format string, args ...any) error {
	return c.errorHere(fmt.Sprintf(format, args...))
}

// errorHere makes a LoadError at the beginning of the clause.
func (c ClauseText) errorHere(text string) LoadError {
	column := 0
	if len(c.tokens) > 0 {
		column = c.tokens[0].column
	}
	return LoadError{c.File, c.Line, column, c.head(), text}
}

// ErrorAt makes a LoadError at the first token of the clause that is a word, or at the beginning of
// the clause if none is. Quotes do not matter.
func (c ClauseText) ErrorAt(word, format string, args ...any) LoadError {
	for _, t := range c.tokens {
		if t.kind != tokenPunct && t.kind != tokenInteger && t.text == word {
			return LoadError{c.File, t.line, t.column, c.head(), fmt.Sprintf(format, args...)}
		}
	}
	return c.errorHere(fmt.Sprintf(format, args...))
}

// head writes the tokens up to :- for messages.
func (c ClauseText) head() string {
	var b strings.Builder
	for _, t := range c.tokens {
		if t.kind == tokenAtom && (t.text == ":-" || t.text == "-->") {
			break
		}
		if b.Len() > 100 {
			b.WriteString("...")
			break
		}
		if t.layout && b.Len() > 0 {
			b.WriteByte(' ')
		}
		switch t.kind {
		case tokenQuoted:
			b.WriteString(quoteAtom(t.text))
		case tokenInteger:
			b.WriteString(t.num.String())
		default:
			b.WriteString(t.text)
		}
	}
	return b.String()
}

// Split cuts a file into clauses. After a mistake it continues with the next clause, so the error
// joins all mistakes of the file, up to MaxLoadErrors.
func Split(f File) (clauses []ClauseText, err error) {
	if len(f.Text) > maxFileBytes {
		return nil, LoadError{f.Name, 1, 0, "",
			fmt.Sprintf("the file has more than %d bytes", maxFileBytes)}
	}
	var errs []error
	l := &lexer{src: string(f.Text), line: 1}
	c, depth := ClauseText{File: f.Name}, 0
	begin := func() { c, depth = ClauseText{File: f.Name, tokens: c.tokens[:0]}, 0 }
	bad := func(err error) {
		line, column := l.line, l.column()
		if s, ok := errors.AsType[syntaxError](err); ok {
			line, column = s.line, s.column
		}
		if len(errs) < MaxLoadErrors {
			errs = append(errs, LoadError{f.Name, line, column, c.head(), err.Error()})
		}
		l.skipClause()
		begin()
	}
	for {
		t, ok, err := l.next()
		if err != nil {
			bad(err)
			continue
		}
		if !ok {
			break
		}
		if len(c.tokens) == 0 {
			c.Line = t.line
			c.above = directlyAbove(l.comments, t.line)
		}
		if t.kind == tokenEnd {
			done := c
			done.tokens = slices.Clone(c.tokens) // the next clause has the memory
			clauses = append(clauses, done)
			begin()
			continue
		}
		c.tokens = append(c.tokens, t)
		depth += t.nesting()
		if len(c.tokens) > maxClauseTokens || depth > maxNesting {
			bad(syntaxError{t.line, t.column, tooDeep})
		}
	}
	if len(c.tokens) > 0 {
		errs = append(errs, c.endless())
	}
	blocks, again := ruleBlocks(l.comments)
	for _, b := range again {
		errs = append(errs, LoadError{f.Name, b.line, 1, "", b.text})
	}
	for i := range clauses {
		clauses[i].blocks = blocks
	}
	return clauses, errors.Join(errs[:min(len(errs), MaxLoadErrors)]...)
}

// endless returns the error of the last clause of a file, if it has no full stop.
func (c ClauseText) endless() error {
	if err := c.unended(); err != nil {
		return err
	}
	last := c.tokens[len(c.tokens)-1]
	return LoadError{c.File, last.line, last.end, c.head(), "the clause has no full stop at its end"}
}

// directlyAbove returns the block of comment lines that ends on the line before line.
func directlyAbove(comments []comment, line int) []comment {
	i := len(comments)
	for i > 0 && comments[i-1].line == line-(len(comments)-i)-1 {
		i--
	}
	return comments[i:]
}

// ruleBlocks finds the blocks of comment lines that begin with "Rule N.". again has a comment for
// each number that has a second block, at its line.
func ruleBlocks(comments []comment) (blocks map[string][]comment, again []comment) {
	blocks = map[string][]comment{}
	for i, c := range comments {
		rest, ok := strings.CutPrefix(c.text, "Rule ")
		number, _, ok2 := strings.Cut(rest, ".")
		if !ok || !ok2 || strings.Contains(number, " ") {
			continue
		}
		if first := blocks[number]; len(first) > 0 {
			again = append(again, comment{c.line, fmt.Sprintf("a second rule %s: the first is described "+
				"on line %d; give this one another number", number, first[0].line)})
			continue
		}
		end := i + 1
		for end < len(comments) && comments[end].line == comments[end-1].line+1 {
			end++
		}
		blocks[number] = comments[i:end]
	}
	return blocks, again
}

// Quoted reports whether a word stands in the clause, and in quotes wherever it does.
func (c ClauseText) Quoted(word string) bool {
	quoted := false
	for _, t := range c.tokens {
		if t.text == word && t.kind != tokenPunct {
			if quoted = t.kind == tokenQuoted; !quoted {
				return false
			}
		}
	}
	return quoted
}

// AppendTokens appends the tokens of the clause to b, without layout and comments.
func (c ClauseText) AppendTokens(b []byte) []byte {
	for _, t := range c.tokens {
		b = strconv.AppendInt(b, int64(t.kind), 10)
		b = strconv.AppendQuote(append(b, ' '), t.text)
		b = append(t.num.Append(append(b, ' '), 10), '\n') // "<nil>" for none
	}
	return b
}

// mayEnd reports whether a clause may end with the token.
func (t token) mayEnd() bool {
	switch t.kind {
	case tokenPunct:
		return t.text == ")" || t.text == "]" || t.text == "}"
	case tokenAtom:
		return !isGraphic(t.text[0]) && t.text[0] != ';'
	}
	return true
}

// unended returns an error if the clause seems to lack its full stop: one of its lines begins in
// the first column, outside of brackets, with a word or a variable. It returns nil otherwise.
func (c ClauseText) unended() error {
	depth := 0
	for i, t := range c.tokens {
		if i > 0 && depth == 0 && t.column == 1 && t.line > c.tokens[i-1].line &&
			(t.kind == tokenAtom && isLower(t.text[0]) || t.kind == tokenQuoted) &&
			i+1 < len(c.tokens) && c.tokens[i-1].mayEnd() {
			last := c.tokens[i-1]
			before := c
			before.tokens = c.tokens[:i]
			return LoadError{c.File, last.line, last.end, before.head(), fmt.Sprintf(
				"the clause has no full stop at its end; the next one begins on line %d", t.line)}
		}
		depth += t.nesting()
	}
	return nil
}

// nesting returns how much deeper in brackets the text is after the token: 1, 0 or -1.
func (t token) nesting() int {
	if t.kind == tokenPunct {
		switch t.text {
		case "(", "[", "{":
			return 1
		case ")", "]", "}":
			return -1
		}
	}
	return 0
}

// VariableNames returns the names of the variables of a clause in their order, without names that
// begin with _.
func (c ClauseText) VariableNames() (names []string) {
	for _, t := range c.tokens {
		if t.kind == tokenVariable && !strings.HasPrefix(t.text, "_") && !slices.Contains(names, t.text) {
			names = append(names, t.text)
		}
	}
	return names
}
