// Package corruptspec parses specifications of corruptions, whose grammar all file systems share:
//
//	OBJECT.FIELD=N  OBJECT.FIELD+N  OBJECT.FIELD-N  OBJECT.FIELD^N  OBJECT!ACTION
//
// Conditions may follow: @NAME=VALUE,NAME=VALUE. Each file system defines its objects, fields,
// actions and conditions. Start reading at Parse.
package corruptspec

import (
	"errors"
	"fmt"
	"strings"

	"fsward/interp"
)

// A Spec is a parsed specification. It has either a Field or an Action.
type Spec struct {
	Object string
	Action string
	Field  string
	Op     byte   // of Field: '=', '+', '-' or '^'
	Value  uint64 // of Op
	Where  []Condition
}

// A Condition selects objects.
type Condition struct{ Name, Value string }

// Errors of Parse.
var (
	ErrNoChange    = errors.New("no field and no action")
	ErrNoOperation = errors.New("no operation")
)

// Parse parses a specification. The error is ErrNoChange, ErrNoOperation or that of a number. With
// an error, the Spec has the parts before the fault.
func Parse(text string) (Spec, error) {
	what, where, _ := strings.Cut(text, "@")
	i := strings.IndexAny(what, ".!")
	if i < 0 {
		return Spec{Object: what}, ErrNoChange
	}
	s := Spec{Object: what[:i]}
	if where != "" {
		for part := range strings.SplitSeq(where, ",") {
			name, value, _ := strings.Cut(part, "=")
			s.Where = append(s.Where, Condition{name, value})
		}
	}
	rest := what[i+1:]
	if what[i] == '!' {
		s.Action = rest
		return s, nil
	}
	at := strings.IndexAny(rest, "=+-^")
	if at < 1 {
		return s, ErrNoOperation
	}
	s.Field, s.Op = rest[:at], rest[at]
	var err error
	s.Value, err = interp.ParseNumber(rest[at+1:])
	return s, err
}

// Number returns the value of the condition as a number.
func (c Condition) Number() (uint64, error) {
	n, err := interp.ParseNumber(c.Value)
	if err != nil {
		return 0, fmt.Errorf("condition %s: %w", c.Name, err)
	}
	return n, nil
}

// Apply returns the result of the operation op on an old value: '+' adds, '-' subtracts, '^' flips
// the bits of value, and '=' replaces the old value.
func Apply(op byte, old, value uint64) uint64 {
	switch op {
	case '+':
		return old + value
	case '-':
		return old - value
	case '^':
		return old ^ value
	}
	return value
}
