package explore

import (
	"errors"
	"fmt"
	"slices"
)

// A Stack is a storage system to check: components on disks, and the checker on top of them.
type Stack struct {
	Top     Component
	Checker Checker
}

// Components returns the components from the bottom up. A component that several others stand on is
// listed once.
func (s Stack) Components() []Component {
	var out []Component
	var walk func(c Component)
	walk = func(c Component) {
		if slices.Contains(out, c) {
			return
		}
		for _, child := range c.Children() {
			walk(child)
		}
		out = append(out, c)
	}
	walk(s.Top)
	return out
}

// Disks returns the disks at the bottom, sorted by number.
func (s Stack) Disks() (out []*Disk) {
	for _, c := range s.Components() {
		if d, ok := c.(*Disk); ok {
			out = append(out, d)
		}
	}
	slices.SortFunc(out, func(a, b *Disk) int { return int(a.Number) - int(b.Number) })
	return out
}

// Check returns an error if the stack has no disk, an invalid disk, or two disks with one number.
func (s Stack) Check() error {
	disks := s.Disks()
	if len(disks) == 0 {
		return errors.New("the stack stands on no disk")
	}
	for i, d := range disks {
		if err := d.check(); err != nil {
			return err
		}
		if i > 0 && disks[i-1].Number == d.Number {
			return fmt.Errorf("two disks of the stack have number %d", d.Number)
		}
	}
	return nil
}

// up calls f with each component from the bottom up, until one fails.
func (s Stack) up(f func(c Component) error) error { return each(s.Components(), f) }

// down calls f with each component from the top down, until one fails.

func (s Stack) down(f func(c Component) error) error {
	list := s.Components()
	slices.Reverse(list)
	return each(list, f)
}

func each(list []Component, f func(c Component) error) error {
	for _, c := range list {
		if err := f(c); err != nil {
			return fmt.Errorf("%s: %w", c.Path(), err)
		}
	}
	return nil
}
