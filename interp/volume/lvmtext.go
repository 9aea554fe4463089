package volume

import (
	"bytes"
	"errors"
	"fmt"
	"strconv"
)

// A section is a named block of LVM's text format: assignments and blocks in braces.
type section struct {
	name     string
	values   []assignment
	sections []section
}

type assignment struct {
	key string
	value
}

// A value is a number, a string, or a list of both.
type value struct {
	text string // a string, or the digits of a number
	list []value
	kind valueKind
}

type valueKind uint8

const (
	isNumber valueKind = iota
	isString
	isList
)

const (
	maxDepth  = 6
	maxValues = 1 << 19 // values and sections of a text
)

var (
	errTooLarge = errors.New("the metadata has too many values")
	errTooDeep  = fmt.Errorf("the metadata has blocks deeper than %d", maxDepth)
)

// parseText reads LVM metadata. The work is linear in the length of the text, and its bounds are
// maxDepth and maxValues.
func parseText(text []byte) (section, error) {
	p := &textParser{text: text}
	root := section{}
	err := p.block(&root, 0)
	return root, err
}

// textParser reads LVM's text format.
type textParser struct {
	text []byte
	at   int
	used int // values and sections so far
}

// peek skips spaces and comments, and returns the next byte, 0 at the end.
func (p *textParser) peek() byte {
	for p.at < len(p.text) {
		switch c := p.text[p.at]; c {
		case ' ', '\t', '\n', '\r':
			p.at++
		case '#':
			n := bytes.IndexByte(p.text[p.at:], '\n')
			if n < 0 {
				n = len(p.text) - p.at
			}
			p.at += n
		default:
			return c
		}
	}
	return 0
}

func (p *textParser) wrong(want string) error {
	return fmt.Errorf("the metadata has no %s at its byte %d", want, p.at)
}

// use counts a value.
func (p *textParser) use() error {
	if p.used++; p.used > maxValues {
		return errTooLarge
	}
	return nil
}

// block reads the members between braces, or of the whole text.
func (p *textParser) block(s *section, depth int) error {
	if depth > maxDepth {
		return errTooDeep
	}
	for {
		switch c := p.peek(); {
		case c == 0 && depth == 0:
			return nil
		case c == '}' && depth > 0:
			p.at++
			return nil
		}
		if err := p.use(); err != nil {
			return err
		}
		name := p.word()
		if name == "" {
			return p.wrong("name")
		}
		if err := p.member(s, name, depth); err != nil {
			return err
		}
	}
}

// member reads the rest of a member after its name: a block or a value.
func (p *textParser) member(s *section, name string, depth int) error {
	switch p.peek() {
	case '{':
		p.at++
		s.sections = append(s.sections, section{name: name})
		return p.block(&s.sections[len(s.sections)-1], depth+1)
	case '=':
		p.at++
		v, err := p.value()
		s.values = append(s.values, assignment{name, v})
		return err
	}
	return p.wrong("block or value")
}

// word reads a name or a number, "" if there is none.
func (p *textParser) word() string {
	start := p.at
	for p.at < len(p.text) && isWord(p.text[p.at]) {
		p.at++
	}
	return string(p.text[start:p.at])
}

func isWord(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '_' ||
		c == '-' || c == '+' || c == '.' || c == '/'
}

func (p *textParser) value() (value, error) {
	if p.peek() != '[' {
		return p.scalar()
	}
	p.at++
	v := value{kind: isList}
	for {
		switch p.peek() {
		case ']':
			p.at++
			return v, nil
		case ',':
			p.at++
			continue
		}
		item, err := p.scalar()
		if err != nil {
			return v, err
		}
		v.list = append(v.list, item)
	}
}

// scalar reads a number or a string.
func (p *textParser) scalar() (value, error) {
	if err := p.use(); err != nil {
		return value{}, err
	}
	if p.peek() != '"' {
		w := p.word()
		if w == "" {
			return value{}, p.wrong("value")
		}
		return value{text: w}, nil
	}
	var s []byte
	for p.at++; p.at < len(p.text); p.at++ {
		switch c := p.text[p.at]; {
		case c == '"':
			p.at++
			return value{text: string(s), kind: isString}, nil
		case c == '\\' && p.at+1 < len(p.text):
			p.at++
			s = append(s, p.text[p.at])
		default:
			s = append(s, c)
		}
	}
	return value{}, p.wrong("end of a string")
}

// get returns the value of a key, an empty number if the section has none.
func (s *section) get(key string) value {
	for i := range s.values {
		if s.values[i].key == key {
			return s.values[i].value
		}
	}
	return value{}
}

// str returns the string of a key, "" if there is none.
func (s *section) str(key string) string {
	if v := s.get(key); v.kind == isString {
		return v.text
	}
	return ""
}

// num returns the number of a key. ok is false if there is none that fits.
func (s *section) num(key string) (n uint64, ok bool) {
	return s.get(key).number()
}

func (v value) number() (uint64, bool) {
	if v.kind != isNumber {
		return 0, false
	}
	n, err := strconv.ParseUint(v.text, 10, 64)
	return n, err == nil
}

// has reports whether the list of a key has a string.
func (s *section) has(key, text string) bool {
	for _, item := range s.get(key).list {
		if item.kind == isString && item.text == text {
			return true
		}
	}
	return false
}

// child returns the block with a name, or nil.
func (s *section) child(name string) *section {
	for i := range s.sections {
		if s.sections[i].name == name {
			return &s.sections[i]
		}
	}
	return nil
}
