package b3

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

// Bounds of a workload's text.
const (
	maxText  = 1 << 20 // bytes
	maxSteps = 1 << 14
	maxName  = 1 << 10 // bytes of a path
	// maxAttribute is what XATTR_NAME_MAX leaves behind "user.", in bytes.
	maxAttribute = 250
	maxBytes     = 1 << 40 // of an offset, a length, or a size
)

// A SyntaxError is an error in the text of a workload.
type SyntaxError struct {
	Line, Column int    // from 1; the column counts characters
	Got          string // "": the text ends
	Want         string // what was expected
}

func (e *SyntaxError) Error() string {
	got := "the end of the step"
	if e.Got != "" {
		got = strconv.Quote(e.Got)
	}
	return fmt.Sprintf("line %d, column %d: %s, expected %s", e.Line, e.Column, got, e.Want)
}

// Parse reads the text of a workload: steps that semicolons or line ends separate. A # begins a
// comment until the end of its line. "repeat N STEP" is STEP N times, with each %d in its names
// replaced by 0, 1, … N-1. The error is a SyntaxError.
func Parse(text string) (Workload, error) {
	if len(text) > maxText {
		return nil, &SyntaxError{1, 1, "…", fmt.Sprintf("at most %d bytes", maxText)}
	}
	var w Workload
	orphans := make(nameless)
	for number, line := range strings.Split(text, "\n") {
		line, _, _ = strings.Cut(line, "#")
		at := 0
		for _, piece := range strings.Split(line, ";") {
			p := parser{line: line, number: number + 1, at: at, end: at + len(piece)}
			at = p.end + 1
			from := p
			steps, err := p.steps(maxSteps - len(w))
			if err != nil {
				return nil, err
			}
			for _, s := range steps {
				if orphans.follow(s); len(orphans) > maxOrphans {
					_, begin := from.word()
					return nil, p.wrong(begin, s.String(), fmt.Sprintf(
						"a close of another open file without a name: %d are open", maxOrphans))
				}
			}
			w = append(w, steps...)
		}
	}
	return w, nil
}

// A parser reads one step of a line.
type parser struct {
	line    string
	number  int // of the line
	at, end int // the part of the line that is left, in bytes
}

// wrong returns the error that got was found at an offset, where want was expected.
func (p *parser) wrong(at int, got, want string) error {
	return &SyntaxError{p.number, utf8.RuneCountInString(p.line[:at]) + 1, got, want}
}

// word returns the next word and its offset; "" at the end.
func (p *parser) word() (word string, at int) {
	space := func(c byte) bool { return c == ' ' || c == '\t' || c == '\r' }
	for p.at < p.end && space(p.line[p.at]) {
		p.at++
	}
	at = p.at
	for p.at < p.end && !space(p.line[p.at]) {
		p.at++
	}
	return p.line[at:p.at], at
}

// steps reads nothing, a step, or a repeated one: at most so many.
func (p *parser) steps(most int) (steps []Step, err error) {
	word, at := p.word()
	if word == "" {
		return nil, nil
	}
	n := 1
	if word == "repeat" {
		word, at = p.word()
		if n, err = strconv.Atoi(word); err != nil || n < 1 {
			return nil, p.wrong(at, word, "a number of times")
		}
		word, at = p.word()
	}
	if n > most {
		return nil, p.wrong(at, word, fmt.Sprintf("at most %d steps", maxSteps))
	}
	s, err := p.step(word, at)
	if err != nil || n == 1 {
		return []Step{s}, err
	}
	for i := range n {
		numbered := s
		numbered.Name = strings.ReplaceAll(s.Name, "%d", strconv.Itoa(i))
		numbered.To = strings.ReplaceAll(s.To, "%d", strconv.Itoa(i))
		steps = append(steps, numbered)
	}
	return steps, nil
}

// step reads the step that begins with a word.
func (p *parser) step(word string, at int) (s Step, err error) {
	verb, ok := verbOf(word)
	if !ok {
		return s, p.wrong(at, word, "an operation, one of "+strings.Join(verbNames(), ", "))
	}
	s.Verb = verb
	for _, part := range verb.parts() {
		if err := p.part(&s, part); err != nil {
			return Step{}, err
		}
	}
	if word, at := p.word(); word != "" {
		return Step{}, p.wrong(at, word, "a semicolon or the end of the line after "+s.String())
	}
	return s, nil
}

// part reads what follows a verb.
func (p *parser) part(s *Step, part part) (err error) {
	switch part {
	case aName:
		name, err := p.name(s.Verb, s.Name == "")
		if s.Name == "" {
			s.Name = name
		} else {
			s.To = name
		}
		return err
	case aTarget:
		word, at := p.word()
		if word == "" || len(word) > maxName {
			return p.wrong(at, word, "the target of the symbolic link")
		}
		s.To = word
	case aMode:
		word, at := p.word()
		if s.Mode = Mode(word); !s.Mode.valid() {
			var names []string
			for _, m := range modes {
				names = append(names, string(m.Mode))
			}
			return p.wrong(at, word, "a mode, one of "+strings.Join(names, ", "))
		}
	case aRange:
		s.Range, err = p.readRange()
	case aLength:
		s.Len, err = p.bytes("a size in bytes")
	case anOffset:
		s.Len, err = p.bytes("an offset in bytes")
	case aPermission:
		word, at := p.word()
		perm, err := strconv.ParseUint(word, 8, 32)
		if err != nil || perm > 0o777 {
			return p.wrong(at, word, "permissions, an octal number up to 777")
		}
		s.Perm = uint32(perm)
	case anAttribute:
		word, at := p.word()
		if len(word) > maxAttribute || !utf8.ValidString(word) || strings.Contains(word, "\x00") {
			return p.wrong(at, word, "the name of an attribute, without its user.")
		}
		s.To = word
	case aFlags:
		word, at := p.word()
		letters, ok := strings.CutPrefix(word, "=")
		if !ok || !areFlags(letters) {
			return p.wrong(at, word, "= and letters of chattr(1), some of "+flagLetters())
		}
		s.To = letters
	}
	return err
}

// name reads a path, the first one or the second one of a step. Only fsync, open and close may name
// the root, and snapshot as its source.
func (p *parser) name(v Verb, first bool) (string, error) {
	word, at := p.word()
	if word == "/" && (v == Fsync || v == Open || v == Close || v == Snapshot && first) {
		return word, nil
	}
	if err := checkName(word); err != nil {
		return "", p.wrong(at, word, err.Error())
	}
	return word, nil
}

// checkName returns an error that says what a path must be.
func checkName(name string) error {
	bad := func(part string) bool {
		return part == "" || part == "." || part == ".." || len(part) > 255 ||
			strings.ContainsAny(part, "\x00;# \t\r\n")
	}
	if len(name) > maxName || !utf8.ValidString(name) ||
		slices.ContainsFunc(strings.Split(name, "/"), bad) {
		return fmt.Errorf("a path such as A/foo, from the root of the file system")
	}
	return nil
}

// readRange reads a range: its name, or an offset and a length.
func (p *parser) readRange() (r Range, err error) {
	from := *p
	word, at := p.word()
	if r.Where = Where(word); r.Where.valid() {
		return r, nil
	}
	if word == "" || word[0] < '0' || word[0] > '9' {
		var names []string
		for _, w := range wheres {
			names = append(names, string(w.Where))
		}
		return Range{}, p.wrong(at, word,
			"a range, one of "+strings.Join(names, ", ")+", or an offset and a length in bytes")
	}
	*p = from
	r = Range{}
	if r.Off, err = p.bytes("an offset in bytes"); err == nil {
		r.Len, err = p.bytes("a length in bytes")
	}
	return r, err
}

// bytes reads a number of bytes.
func (p *parser) bytes(want string) (uint64, error) {
	word, at := p.word()
	n, err := strconv.ParseUint(word, 10, 64)
	if err != nil || n > maxBytes {
		return 0, p.wrong(at, word, fmt.Sprintf("%s, at most %d", want, uint64(maxBytes)))
	}
	return n, nil
}
