package b3

import (
	"fmt"
	"slices"
	"strings"
)

// params returns the steps that the operations of a set stand for, in the order of ranks.
func (s *Set) params() (steps []Step, err error) {
	for i, o := range s.Operations {
		some, err := s.paramsOf(o)
		if err != nil {
			return nil, &operationError{i, o.Op, err}
		}
		if steps = append(steps, some...); len(steps) > maxParams {
			return nil, fmt.Errorf("more than %d operations with parameters", maxParams)
		}
	}
	return steps, nil
}

// ofSets reports whether a set may have an operation. fsync, sync, open and close are added to its
// workloads, and the keys of a set lack what chmod and clone take.
func ofSets(v Verb) bool {
	switch v {
	case Fsync, Sync, Open, Close, Chmod, Clone, Orphan:
		return false
	}
	return true
}

// operationsOfSets returns the names of the operations that a set may have.
func operationsOfSets() (names []string) {
	for _, name := range verbNames() {
		if v, _ := verbOf(name); ofSets(v) {
			names = append(names, name)
		}
	}
	return names
}

// paramsOf returns the steps that an operation stands for.
func (s *Set) paramsOf(o Operation) (steps []Step, err error) {
	verb, ok := verbOf(o.Op)
	if !ok || !ofSets(verb) {
		return nil, fmt.Errorf("expected one of %s", strings.Join(operationsOfSets(), ", "))
	}
	if err := checkParams(verb, o); err != nil {
		return nil, err
	}
	from, to, err := s.lists(verb, o)
	if err != nil {
		return nil, err
	}
	dirs := slices.Concat(s.Directories, s.SecondDirectories)
	switch {
	case verb == Snapshot:
		steps = pairs(verb, append([]string{"/"}, dirs...), s.SecondDirectories)
	case verb.hasTwoNames():
		steps = pairs(verb, from, to)
		if verb == Rename {
			steps = append(steps, pairs(verb, dirs, s.SecondDirectories)...)
		}
	default:
		for _, name := range from {
			steps = append(steps, withParams(Step{Verb: verb, Name: name}, o)...)
		}
	}
	if len(steps) == 0 {
		return nil, fmt.Errorf("no names, modes, ranges or sizes are left for it")
	}
	return steps, nil
}

// hasTwoNames reports whether a step names two places.
func (v Verb) hasTwoNames() bool {
	return v == Link || v == Rename || v == Symlink || v == Exchange
}

// lists returns the names that an operation takes, and its new names.
func (s *Set) lists(v Verb, o Operation) (from, to []string, err error) {
	switch v {
	case Mkdir, Rmdir, Subvolume, Snapshot, DeleteSubvolume:
		if o.Names != "" || o.To != "" {
			return nil, nil, fmt.Errorf("it takes directories, not names")
		}
		if v == DeleteSubvolume { // snapshots are among the second ones
			return slices.Concat(s.Directories, s.SecondDirectories), nil, nil
		}
		return s.Directories, nil, nil
	}
	names, newNames := o.Names, o.To
	if names == "" {
		names = "first"
		if v.hasTwoNames() || v == Unlink || v == Remove {
			names = "both"
		}
	}
	if newNames == "" {
		newNames = "second"
	} else if !v.hasTwoNames() {
		return nil, nil, fmt.Errorf("it takes no new name")
	}
	if from, err = s.list("names", names); err == nil {
		to, err = s.list("to", newNames)
	}
	return from, to, err
}

// list returns a list of files by its name.
func (s *Set) list(key, name string) ([]string, error) {
	switch name {
	case "first":
		return s.First, nil
	case "second":
		return s.Second, nil
	case "both":
		return slices.Concat(s.First, s.Second), nil
	}
	return nil, fmt.Errorf("%s is %q: want first, second or both", key, name)
}

// pairs returns the steps from each name to each other one.
func pairs(v Verb, from, to []string) (steps []Step) {
	for _, a := range from {
		for _, b := range to {
			if a == b {
				continue
			}
			s := Step{Verb: v, Name: a, To: b}
			if v == Symlink { // its name is the new one
				s.Name, s.To = b, a
			}
			steps = append(steps, s)
		}
	}
	return steps
}

// checkParams returns an error if an operation has parameters that its verb does not take, or
// invalid ones.
func checkParams(v Verb, o Operation) error {
	takes := v.parts()
	switch {
	case (len(o.Ranges) > 0) != slices.Contains(takes, aRange):
		return fmt.Errorf("ranges are for falloc, write, dwrite, mmapwrite and msync, which need them")
	case (len(o.Modes) > 0) != slices.Contains(takes, aMode):
		return fmt.Errorf("modes are for falloc, which needs them")
	case (len(o.Flags) > 0) != slices.Contains(takes, aFlags):
		return fmt.Errorf("flags are for chattr, which needs them")
	case (len(o.Sizes) > 0) != slices.Contains(takes, aLength):
		return fmt.Errorf("sizes are for truncate, which needs them")
	}
	for _, w := range o.Ranges {
		if !w.valid() {
			return fmt.Errorf("there is no range %q", w)
		}
	}
	for _, m := range o.Modes {
		if !m.valid() {
			return fmt.Errorf("there is no mode %q", m)
		}
	}
	for _, letters := range o.Flags {
		if !areFlags(letters) {
			return fmt.Errorf("flags %q: want some of %s", letters, flagLetters())
		}
	}
	for _, n := range o.Sizes {
		if n > maxBytes {
			return fmt.Errorf("size %d: want at most %d", n, uint64(maxBytes))
		}
	}
	return nil
}

// withParams returns a step with each combination of its modes, ranges and sizes.
func withParams(s Step, o Operation) []Step {
	steps := []Step{s}
	steps = product(steps, o.Modes, func(s *Step, m Mode) { s.Mode = m })
	steps = product(steps, o.Flags, func(s *Step, letters string) { s.To = letters })
	steps = product(steps, o.Ranges, func(s *Step, w Where) { s.Range.Where = w })
	return product(steps, o.Sizes, func(s *Step, n uint64) { s.Len = n })
}

// product returns each step with each value. Without values it returns the steps.
func product[T any](steps []Step, values []T, set func(*Step, T)) (out []Step) {
	if len(values) == 0 {
		return steps
	}
	for _, s := range steps {
		for _, v := range values {
			set(&s, v)
			out = append(out, s)
		}
	}
	return out
}
