package spec

import (
	"fmt"
	"slices"
	"strings"
)

// Alone reads a stack from the text of its file, on a machine that has no other files of it. It
// refuses a stack that names files.
func Alone(text string) (Spec, error) {
	s, err := parse([]byte(text))
	if err != nil {
		return s, err
	}
	names := []string{s.Checker}
	for _, l := range s.Layers {
		names = append(names, l.Component)
	}
	for _, name := range names {
		values := []string{name}
		if parameter, ok := strings.CutPrefix(name, "$"); ok {
			values = s.Parameters[parameter]
		}
		if i := slices.IndexFunc(values, isFile); i >= 0 {
			return s, fmt.Errorf("it names the file %q: a stack that is sent elsewhere names none",
				values[i])
		}
	}
	return s, nil
}

func isFile(name string) bool { return strings.ContainsAny(name, "./") }
