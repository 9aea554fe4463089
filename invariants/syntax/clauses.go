package syntax

import (
	"errors"
	"fmt"
	"slices"
	"strings"
)

const (
	maxFileBytes    = 4 << 20
	maxClauseTokens = 20000 // bounds the parser's recursion
	maxNesting      = 200   // maximal depth of brackets in a clause
	MaxLoadErrors   = 50    // mistakes that are reported of one set of rules
)

// A LoadError is a mistake in a rule file, at its place.
type LoadError struct {
	File   string
	Line   int
	Clause string // the head of the clause as written, cut short; "" if the mistake comes before it
	Text   string
}

func (e LoadError) Error() string {
	if e.Clause == "" {
		return fmt.Sprintf("%s:%d: %s", e.File, e.Line, e.Text)
	}
	return fmt.Sprintf("%s:%d: in %s: %s", e.File, e.Line, e.Clause, e.Text)
}

// ClauseText is one clause of a file, as tokens.
type ClauseText struct {
	File   string
	Line   int
	tokens []token              // without the full stop
	above  []comment            // the comment lines directly above, without a blank line between
	blocks map[string][]comment // of the file: the comment blocks that begin with "Rule N.", by N
}

// Errorf makes a LoadError at the first line of the clause.
func (c ClauseText) Errorf(format string, args ...any) error {
	return LoadError{c.File, c.Line, c.head(), fmt.Sprintf(format, args...)}
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
		return nil, LoadError{f.Name, 1, "", fmt.Sprintf("the file has more than %d bytes", maxFileBytes)}
	}
	var errs []error
	l := &lexer{src: string(f.Text), line: 1}
	c, depth := ClauseText{File: f.Name}, 0
	bad := func(err error) {
		line := l.line
		if s, ok := errors.AsType[syntaxError](err); ok {
			line = s.line
		}
		if len(errs) < MaxLoadErrors {
			errs = append(errs, LoadError{f.Name, line, c.head(), err.Error()})
		}
		l.skipClause()
		c, depth = ClauseText{File: f.Name}, 0
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
			clauses = append(clauses, c)
			c, depth = ClauseText{File: f.Name}, 0
			continue
		}
		c.tokens = append(c.tokens, t)
		if t.kind == tokenPunct {
			switch t.text {
			case "(", "[", "{":
				depth++
			case ")", "]", "}":
				depth--
			}
		}
		if len(c.tokens) > maxClauseTokens || depth > maxNesting {
			bad(syntaxError{t.line, "the clause is too long or too deeply nested"})
		}
	}
	if len(c.tokens) > 0 {
		bad(syntaxError{c.Line, "the clause has no full stop at its end"})
	}
	blocks := ruleBlocks(l.comments)
	for i := range clauses {
		clauses[i].blocks = blocks
	}
	return clauses, errors.Join(errs...)
}

// directlyAbove returns the block of comment lines that ends on the line before line.
func directlyAbove(comments []comment, line int) []comment {
	i := len(comments)
	for i > 0 && comments[i-1].line == line-(len(comments)-i)-1 {
		i--
	}
	return comments[i:]
}

// ruleBlocks finds the blocks of comment lines that begin with "Rule N.".
func ruleBlocks(comments []comment) map[string][]comment {
	blocks := map[string][]comment{}
	for i, c := range comments {
		rest, ok := strings.CutPrefix(c.text, "Rule ")
		number, _, ok2 := strings.Cut(rest, ".")
		if !ok || !ok2 || len(blocks[number]) > 0 {
			continue
		}
		end := i + 1
		for end < len(comments) && comments[end].line == comments[end-1].line+1 {
			end++
		}
		blocks[number] = comments[i:end]
	}
	return blocks
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
