// Package facts reads a transaction and the state after it from a text file of Prolog facts, so
// that rules can run without a disk: in tests, in measurements, and in an author's own unit tests
// of rules.
//
// The facts are change(TREE,ID,FIELD,OLD,NEW) for the records of the transaction; object(TREE,ID)
// and state(TREE,ID,FIELD,VALUE) for the objects that exist after it and their fields; and
// adjacent(TREE,ID,NEXT) for neighbors, from which previous/3 and next/3 answer. Without adjacent
// facts, the file lists all objects, and their order defines their neighbors.
package facts

import (
	"fmt"
	"math/big"
	"strings"
	"unicode/utf8"
)

// A term is a number, an atom, or a compound.
type term struct {
	functor string // of an atom or a compound
	args    []term
	num     uint64 // if isNum; a negative number stands for the same 64 bits
	isNum   bool
	quoted  bool // an atom in quotes
}

func (t term) is(functor string, arity int) bool {
	return !t.isNum && t.functor == functor && len(t.args) == arity
}

func (t term) isAtom() bool { return !t.isNum && len(t.args) == 0 }

const (
	maxNesting = 8 // levels of terms in a fact
	maxArgs    = 8 // arguments of a term
)

// scanner reads facts from text.
type scanner struct {
	src  string
	pos  int
	line int
}

func (s *scanner) errorf(format string, args ...any) error {
	return fmt.Errorf("line %d: %s", s.line, fmt.Sprintf(format, args...))
}

// next returns the next fact; ok is false at the end of the text.
func (s *scanner) next() (t term, ok bool, err error) {
	s.blank()
	if s.pos == len(s.src) {
		return term{}, false, nil
	}
	if t, err = s.term(maxNesting); err != nil {
		return term{}, false, err
	}
	if s.blank(); !s.take('.') {
		return term{}, false, s.errorf("expected a full stop after the fact")
	}
	return t, true, nil
}

// blank skips blank space and % comments.
func (s *scanner) blank() {
	for s.pos < len(s.src) {
		switch c := s.src[s.pos]; {
		case c == '\n':
			s.line++
		case c == '%':
			for s.pos+1 < len(s.src) && s.src[s.pos+1] != '\n' {
				s.pos++
			}
		case c != ' ' && (c < '\t' || c > '\r'):
			return
		}
		s.pos++
	}
}

func (s *scanner) take(c byte) bool {
	if s.pos < len(s.src) && s.src[s.pos] == c {
		s.pos++
		return true
	}
	return false
}

func isWord(c byte) bool {
	return c == '_' || c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z'
}

func (s *scanner) word() string {
	start := s.pos
	for s.pos < len(s.src) && isWord(s.src[s.pos]) {
		s.pos++
	}
	return s.src[start:s.pos]
}

func (s *scanner) term(depth int) (term, error) {
	if depth == 0 {
		return term{}, s.errorf("a term is nested too deeply")
	}
	s.blank()
	if s.pos == len(s.src) {
		return term{}, s.errorf("the text ends within a fact")
	}
	var t term
	switch c := s.src[s.pos]; {
	case c == '-' || c >= '0' && c <= '9':
		return s.number()
	case c == '\'':
		text, err := s.quoted()
		if err != nil {
			return term{}, err
		}
		t.functor, t.quoted = text, true
	case c >= 'a' && c <= 'z':
		t.functor = s.word()
		if t.functor == "site" && s.take('/') { // the name of a site's rule
			t.functor += "/" + s.word()
		}
	default:
		r, _ := utf8.DecodeRuneInString(s.src[s.pos:])
		return term{}, s.errorf("unexpected character %q", r)
	}
	if !s.take('(') {
		return t, nil
	}
	for {
		if len(t.args) == maxArgs {
			return term{}, s.errorf("a term has more than %d arguments", maxArgs)
		}
		a, err := s.term(depth - 1)
		if err != nil {
			return term{}, err
		}
		t.args = append(t.args, a)
		s.blank()
		switch {
		case s.take(')'):
			return t, nil
		case !s.take(','):
			return term{}, s.errorf("expected , or ) in a term")
		}
	}
}

func (s *scanner) number() (term, error) {
	negative := s.take('-')
	digits := s.word()
	n, ok := new(big.Int), false
	if len(digits) > 0 && len(digits) <= 20 {
		n, ok = n.SetString(digits, 10)
	}
	if !ok || !n.IsUint64() || negative && n.BitLen() > 63 {
		return term{}, s.errorf("%.40q is not a number of 64 bits", digits)
	}
	u := n.Uint64()
	if negative {
		u = -u
	}
	return term{num: u, isNum: true}, nil
}

// quoted reads a quoted atom. It knows only the escapes that fsward itself writes: \\, \' and \xHH\
// for a byte.
func (s *scanner) quoted() (string, error) {
	s.pos++
	var b strings.Builder
	for s.pos < len(s.src) {
		c := s.src[s.pos]
		s.pos++
		switch c {
		case '\'':
			if !s.take('\'') {
				return b.String(), nil
			}
			b.WriteByte('\'')
		case '\n':
			return "", s.errorf("a quoted atom does not end on its line")
		case '\\':
			switch {
			case s.take('\\'):
				b.WriteByte('\\')
			case s.take('\''):
				b.WriteByte('\'')
			case s.take('x'):
				digits := s.word()
				n, ok := new(big.Int).SetString(digits, 16)
				if !ok || len(digits) > 8 || strings.Contains(digits, "_") || n.BitLen() > 8 || !s.take('\\') {
					return "", s.errorf(`an escape \x%.10s that is no byte`, digits)
				}
				b.WriteByte(byte(n.Uint64()))
			default:
				return "", s.errorf("an unknown escape sequence")
			}
		default:
			b.WriteByte(c)
		}
	}
	return "", s.errorf("a quoted atom does not end")
}
