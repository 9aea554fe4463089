package b3

import (
	"errors"
	"fmt"
	"regexp"
	"strings"

	"go.yaml.in/yaml/v3"
)

// An operationError is an error of one operation of a set.
type operationError struct {
	index int // in Set.Operations
	op    string
	err   error
}

func (e *operationError) Error() string { return fmt.Sprintf("operation %q: %v", e.op, e.err) }

func (e *operationError) Unwrap() error { return e.err }

// placeOf returns where an operation stands in the text of a set: "line 4, column 5: ". It is "" if
// the text does not say that.
func placeOf(text []byte, index int) string {
	var file struct {
		Operations []yaml.Node `yaml:"operations"`
	}
	if err := yaml.Unmarshal(text, &file); err != nil || index >= len(file.Operations) {
		return ""
	}
	n := &file.Operations[index]
	return fmt.Sprintf("line %d, column %d: ", n.Line, n.Column)
}

// unknownKey is how the decoder names a key that a set does not have.
var unknownKey = regexp.MustCompile(`field (\S+) not found in type \S+`)

// plain returns an error of the decoder in one line, and without the types of this program.
func plain(err error) error {
	wrong, ok := errors.AsType[*yaml.TypeError](err)
	if !ok {
		return err
	}
	return errors.New(unknownKey.ReplaceAllString(strings.Join(wrong.Errors, "; "),
		`there is no key "$1"`))
}
