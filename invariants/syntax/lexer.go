package syntax

import (
	"fmt"
	"math/big"
	"strings"
	"unicode/utf8"
)

type tokenKind uint8

const (
	tokenAtom     tokenKind = iota // unquoted: letters, graphic characters, ; or !
	tokenQuoted                    // text holds the bytes that the quotes mean
	tokenVariable                  // a name that begins with a capital letter or _
	tokenInteger                   // num holds the value
	tokenPunct                     // ( ) [ ] { } , |
	tokenEnd                       // the full stop of a clause
)

type token struct {
	kind   tokenKind
	layout bool // blank space or a comment stands before it
	line   int
	column int // of its first byte, from 1
	end    int // column after its last byte, if it does not span lines
	text   string
	num    *big.Int
}

// A comment is one line of % comment that stands alone on its line.
type comment struct {
	line int
	text string // without % and the blanks around
}

const graphicChars = `#$&*+-./:<=>?@^~\`

type lexer struct {
	src      string
	pos      int
	line     int
	begin    int       // position of the first byte of the line
	comments []comment // whole-line comments read so far
}

// A syntaxError is a mistake in rule text, at a line and a column.
type syntaxError struct {
	line, column int
	text         string
}

func (e syntaxError) Error() string { return e.text }

func (l *lexer) errorf(format string, args ...any) error {
	return syntaxError{l.line, l.column(), fmt.Sprintf(format, args...)}
}

// column returns the column of the current byte.
func (l *lexer) column() int { return l.pos - l.begin + 1 }

// newLine counts a line that begins at a position.
func (l *lexer) newLine(begin int) {
	l.line++
	l.begin = begin
}

func (l *lexer) at(i int) byte {
	if l.pos+i < len(l.src) {
		return l.src[l.pos+i]
	}
	return 0
}

func isLayout(c byte) bool { return c == ' ' || c >= '\t' && c <= '\r' }
func isLower(c byte) bool  { return c >= 'a' && c <= 'z' }
func isUpper(c byte) bool  { return c >= 'A' && c <= 'Z' }

// IsDigit reports whether c is a decimal digit.
func IsDigit(c byte) bool { return c >= '0' && c <= '9' }
func isWord(c byte) bool  { return isLower(c) || isUpper(c) || IsDigit(c) || c == '_' }
func isGraphic(c byte) bool {
	return c != 0 && strings.IndexByte(graphicChars, c) >= 0
}

// next returns the next token; ok is false at the end of the text.
func (l *lexer) next() (t token, ok bool, err error) {
	layout, err := l.skipLayout()
	if err != nil || l.pos >= len(l.src) {
		return token{}, false, err
	}
	t = token{layout: layout, line: l.line, column: l.column()}
	c := l.src[l.pos]
	switch {
	case c == '.' && (l.pos+1 == len(l.src) || isLayout(l.at(1)) || l.at(1) == '%'):
		l.pos++
		t.kind = tokenEnd
	case isLower(c):
		t.kind, t.text = tokenAtom, l.run(isWord)
	case c == '_' || isUpper(c):
		t.kind, t.text = tokenVariable, l.run(isWord)
	case IsDigit(c):
		t.kind = tokenInteger
		t.num, err = l.integer()
	case c == '\'':
		t.kind = tokenQuoted
		t.text, err = l.quoted()
	case isGraphic(c):
		t.kind, t.text = tokenAtom, l.run(isGraphic)
	case c == ';' || c == '!':
		l.pos++
		t.kind, t.text = tokenAtom, string(c)
	case strings.IndexByte("()[]{},|", c) >= 0:
		l.pos++
		t.kind, t.text = tokenPunct, string(c)
	case c == '"' || c == '`':
		err = l.errorf("write names in single quotes, not %c", c)
	default:
		r, _ := utf8.DecodeRuneInString(l.src[l.pos:])
		err = l.errorf("unexpected character %q", r)
	}
	t.end = l.column()
	return t, err == nil, err
}

func (l *lexer) run(in func(byte) bool) string {
	start := l.pos
	for l.pos < len(l.src) && in(l.src[l.pos]) {
		l.pos++
	}
	return l.src[start:l.pos]
}

// skipLayout skips blank space and comments, and keeps whole-line comments.
func (l *lexer) skipLayout() (passed bool, err error) {
	for l.pos < len(l.src) {
		switch c := l.src[l.pos]; {
		case isLayout(c):
			l.pos++
			if c == '\n' {
				l.newLine(l.pos)
			}
		case c == '%':
			alone := strings.TrimSpace(l.src[strings.LastIndexByte(l.src[:l.pos], '\n')+1:l.pos]) == ""
			end := strings.IndexByte(l.src[l.pos:], '\n')
			if end < 0 {
				end = len(l.src) - l.pos
			}
			if alone {
				text := strings.TrimSpace(strings.TrimLeft(l.src[l.pos:l.pos+end], "%"))
				l.comments = append(l.comments, comment{l.line, text})
			}
			l.pos += end
		case c == '/' && l.at(1) == '*':
			end := strings.Index(l.src[l.pos+2:], "*/")
			if end < 0 {
				err := l.errorf("a comment /* does not end")
				l.pos = len(l.src)
				return true, err
			}
			body, from := l.src[l.pos:l.pos+2+end], l.pos
			if n := strings.Count(body, "\n"); n > 0 {
				l.line += n
				l.begin = from + strings.LastIndexByte(body, '\n') + 1
			}
			l.pos += 2 + end + 2
		default:
			return passed, nil
		}
		passed = true
	}
	return passed, nil
}

// integer reads a number: decimal, 0x, 0o, 0b, or 0'c for the code of a character.
func (l *lexer) integer() (*big.Int, error) {
	const longest = 1000 // digits
	if l.src[l.pos] == '0' && l.at(1) == '\'' {
		return l.charCode()
	}
	start, base := l.pos, 10
	digits := l.run(isWord)
	switch {
	case strings.HasPrefix(digits, "0x"):
		base = 16
	case strings.HasPrefix(digits, "0o"):
		base = 8
	case strings.HasPrefix(digits, "0b"):
		base = 2
	}
	if base != 10 {
		digits = digits[2:]
	}
	n, ok := new(big.Int), false
	if len(digits) <= longest && !strings.Contains(digits, "_") {
		n, ok = n.SetString(digits, base)
	}
	if !ok {
		return nil, l.errorf("%.40s is not a number", l.src[start:l.pos])
	}
	if l.at(0) == '.' && IsDigit(l.at(1)) {
		return nil, l.errorf("no floating point here: numbers are integers of any size")
	}
	return n, nil
}

func (l *lexer) charCode() (*big.Int, error) {
	l.pos += 2
	switch c := l.at(0); {
	case l.pos >= len(l.src) || c == '\n':
		return nil, l.errorf("0' without a character")
	case c == '\\':
		s, err := l.escape()
		if err != nil || s == "" {
			return nil, l.errorf("0' with an escape that is not a character")
		}
		return codeOf(s), nil
	case c == '\'' && l.at(1) == '\'':
		l.pos += 2
		return codeOf("'"), nil
	default:
		r, n := utf8.DecodeRuneInString(l.src[l.pos:])
		l.pos += n
		return big.NewInt(int64(r)), nil
	}
}

// codeOf returns the code of the one character or byte that an escape means.
func codeOf(s string) *big.Int {
	if len(s) == 1 {
		return big.NewInt(int64(s[0]))
	}
	r, _ := utf8.DecodeRuneInString(s)
	return big.NewInt(int64(r))
}

// quoted reads a quoted atom and returns the bytes that it means.
func (l *lexer) quoted() (string, error) {
	l.pos++
	var b strings.Builder
	for l.pos < len(l.src) {
		switch c := l.src[l.pos]; {
		case c == '\'' && l.at(1) == '\'':
			b.WriteByte('\'')
			l.pos += 2
		case c == '\'':
			l.pos++
			return b.String(), nil
		case c == '\n':
			return "", l.errorf("a quoted atom does not end on its line")
		case c == '\\':
			s, err := l.escape()
			if err != nil {
				return "", err
			}
			b.WriteString(s)
		default:
			b.WriteByte(c)
			l.pos++
		}
	}
	return "", l.errorf("a quoted atom does not end")
}

// escape reads an escape sequence, beginning at its backslash. \xHH\ and \OOO\ up to 255 are one
// byte, as fsward writes names; larger codes are characters.
func (l *lexer) escape() (string, error) {
	l.pos++
	c := l.at(0)
	if c == '\n' {
		l.pos++
		l.newLine(l.pos)
		return "", nil
	}
	if i := strings.IndexByte("abfnrtv", c); c != 0 && i >= 0 {
		l.pos++
		return "\a\b\f\n\r\t\v"[i : i+1], nil
	}
	if c != 0 && strings.IndexByte("\\'\"`", c) >= 0 {
		l.pos++
		return string(c), nil
	}
	base := 8
	if c == 'x' {
		base = 16
		l.pos++
	}
	digits := l.run(isWord)
	n, ok := new(big.Int), false
	if len(digits) <= 8 && !strings.Contains(digits, "_") {
		n, ok = n.SetString(digits, base)
	}
	if !ok || l.at(0) != '\\' || n.Cmp(big.NewInt(utf8.MaxRune)) > 0 {
		return "", l.errorf("an unknown escape sequence")
	}
	l.pos++
	if n.Int64() <= 0xff {
		return string([]byte{byte(n.Int64())}), nil
	}
	return string(rune(n.Int64())), nil
}

// skipClause skips the rest of a clause with a mistake: up to the next full stop at the end of a
// line.
func (l *lexer) skipClause() {
	for l.pos < len(l.src) {
		end := strings.IndexByte(l.src[l.pos:], '\n')
		if end < 0 {
			l.pos = len(l.src)
			return
		}
		line := strings.TrimRight(l.src[l.pos:l.pos+end], " \t\r")
		l.pos += end + 1
		l.newLine(l.pos)
		if strings.HasSuffix(line, ".") {
			return
		}
	}
}
