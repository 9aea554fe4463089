package spec

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	"fsward/explore/component"
)

// parameterName matches the name of a parameter.
var parameterName = regexp.MustCompile(`^[a-z][a-z0-9_]*$`)

// checkParameters returns an error if a parameter has a wrong name or no value.
func (s Spec) checkParameters() error {
	for name, values := range s.Parameters {
		if !parameterName.MatchString(name) {
			return fmt.Errorf("parameters: %q is not a name of lower-case letters, digits and _", name)
		}
		if len(values) == 0 {
			return fmt.Errorf("parameters: %s has no value", name)
		}
	}
	return nil
}

// Set gives a parameter a value.
func (s *Spec) Set(name, value string) error {
	values, ok := s.Parameters[name]
	if !ok {
		return fmt.Errorf("the stack has no parameter %q; it has %s", name,
			strings.Join(slices.Sorted(maps.Keys(s.Parameters)), ", "))
	}
	if !slices.Contains(values, value) {
		return fmt.Errorf("the parameter %s cannot be %q; it is one of %s", name, value,
			strings.Join(values, ", "))
	}
	s.Values = maps.Clone(s.Values)
	if s.Values == nil {
		s.Values = make(map[string]string)
	}
	s.Values[name] = value
	return nil
}

// value returns the value of a parameter.
func (s Spec) value(name string) string {
	if v, ok := s.Values[name]; ok {
		return v
	}
	return s.Parameters[name][0]
}

// environment returns the parameters as variables of the shell.
func (s Spec) environment() (out []string) {
	for _, name := range slices.Sorted(maps.Keys(s.Parameters)) {
		out = append(out, strings.ToUpper(name)+"="+s.value(name))
	}
	return out
}

// reference matches a parameter in a text.
var reference = regexp.MustCompile(`\$[a-z][a-z0-9_]*`)

// expanded returns the stack with the values of its parameters, and with the sizes of its disks.
func (s Spec) expanded() (Spec, error) {
	var unknown string
	expand := func(text string) string {
		return reference.ReplaceAllStringFunc(text, func(ref string) string {
			name := ref[1:]
			if _, ok := s.Parameters[name]; !ok {
				unknown = name
				return ref
			}
			return s.value(name)
		})
	}
	s.Layers, s.Disks = slices.Clone(s.Layers), slices.Clone(s.Disks)
	for i := range s.Layers {
		l := &s.Layers[i]
		l.Component, l.MountOptions = expand(l.Component), expand(l.MountOptions)
		l.MkfsOptions = expand(l.MkfsOptions)
	}
	s.Checker = expand(s.Checker)
	if unknown != "" {
		return s, fmt.Errorf("the stack has no parameter %q", unknown)
	}
	for i, size := range s.Disks {
		if size != 0 {
			continue
		}
		var err error
		if s.Disks[i], err = s.suggested(fmt.Sprintf("/dev/fswrd%d", i)); err != nil {
			return s, err
		}
	}
	return s, nil
}

// suggested returns the size that the component on a disk suggests.
func (s Spec) suggested(disk string) (Bytes, error) {
	for _, l := range s.Layers {
		if !slices.Contains(l.On, disk) {
			continue
		}
		k, err := component.Load(l.Component)
		if err != nil {
			return 0, err
		}
		if k.Bytes > 0 {
			return Bytes(k.Bytes), nil
		}
	}
	return 0, fmt.Errorf("the size of %s cannot be auto: no component on it suggests one", disk)
}
