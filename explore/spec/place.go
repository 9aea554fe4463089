package spec

import (
	"fmt"
	"slices"

	"fsward/explore"
	"fsward/explore/component"
)

// A Place is the kernel in which steps run, or in which crash states are recovered and checked.
type Place string

// The places.
const (
	InGuest    Place = "guest" // in the guest, or for recovery where the steps run
	InUserMode Place = "uml"   // in user-mode Linux
)

// Places returns all places.
func Places() []Place { return []Place{InGuest, InUserMode} }

// Check returns an error if the place is unknown. "" stands for InGuest.
func (p Place) Check() error {
	if p != "" && !slices.Contains(Places(), p) {
		return fmt.Errorf("run or recover in %q: there are %v", p, Places())
	}
	return nil
}

// places returns the places of a run; "" for those of a run that has chosen none.
func (r Run) places() (run, recoverIn Place) {
	if r.RunIn == InUserMode {
		return InUserMode, "" // where the steps run
	}
	if r.RecoverIn == InUserMode {
		return "", InUserMode
	}
	return "", ""
}

// UserMode returns what user-mode Linux needs to run a stack or to recover its crash states: the
// bytes of all disks, and the names of its file systems for mount(2). It refuses a stack that is not a file
// system on disks, because another layer would need modules of the guest's kernel.
func (s Spec) UserMode() (bytes uint64, types []string, err error) {
	top, err := s.Components()
	if err != nil {
		return 0, nil, err
	}
	needs, err := s.AllNeeds()
	if err != nil {
		return 0, nil, err
	}
	if len(needs.Modules) > 0 {
		return 0, nil, fmt.Errorf("user-mode Linux cannot have the stack: it needs "+
			"the modules %v of the guest's kernel", needs.Modules)
	}
	for _, c := range (explore.Stack{Top: top}).Components() {
		switch c := c.(type) {
		case *explore.Disk:
			bytes += c.Bytes
		case *component.Component:
			above := func(on explore.Component) bool { _, disk := on.(*explore.Disk); return !disk }
			if c.Kind.Type == "" || slices.ContainsFunc(c.On, above) {
				return 0, nil, fmt.Errorf("user-mode Linux cannot have the stack: %s is not "+
					"a file system on disks", c.Kind.Name)
			}
			types = append(types, c.Kind.Type)
		}
	}
	return bytes, types, nil
}
