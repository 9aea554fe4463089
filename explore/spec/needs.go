package spec

import (
	"strings"

	"fsward/explore/checkers"
	"fsward/explore/component"
	"fsward/explore/guest"
)

// AllNeeds returns the packages and modules that the stack, its components and its checker need
// beside those of every guest.
func (s Spec) AllNeeds() (guest.Needs, error) {
	all := s.Needs
	e, err := s.expanded()
	if err != nil {
		return all, err
	}
	for _, l := range e.Layers {
		k, err := component.Load(l.Component)
		if err != nil {
			return all, err
		}
		all.Add(k.Needs)
	}
	switch {
	case s.Script != nil:
		all.Add(s.Script.Needs)
	case strings.HasSuffix(e.Checker, ".yaml") || strings.HasSuffix(e.Checker, ".yml"):
		text, err := checkers.ReadText(e.Checker)
		if err != nil {
			return all, err
		}
		all.Add(text.Needs)
	}
	return all, nil
}
