package spec

import (
	"fmt"
	"slices"

	"fsward/explore"
	"fsward/explore/component"
)

// A RecoveryPlace is where crash states are recovered and checked.
type RecoveryPlace string

// The places.
const (
	InGuest    RecoveryPlace = "guest" // in the guest in which the steps run
	InUserMode RecoveryPlace = "uml"   // in user-mode Linux
)

// RecoveryPlaces returns all places.
func RecoveryPlaces() []RecoveryPlace { return []RecoveryPlace{InGuest, InUserMode} }

// Check returns an error if the place is unknown. "" stands for InGuest.
func (p RecoveryPlace) Check() error {
	if p != "" && !slices.Contains(RecoveryPlaces(), p) {
		return fmt.Errorf("recover in %q: there are %v", p, RecoveryPlaces())
	}
	return nil
}

// UserMode returns what user-mode Linux needs to recover crash states of a stack: the bytes of all
// disks, and the names of its file systems for mount(2). It refuses a stack that is not a file
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
		return 0, nil, fmt.Errorf("crash states cannot be recovered in user-mode Linux: the stack needs "+
			"the modules %v of the guest's kernel", needs.Modules)
	}
	for _, c := range (explore.Stack{Top: top}).Components() {
		switch c := c.(type) {
		case *explore.Disk:
			bytes += c.Bytes
		case *component.Component:
			above := func(on explore.Component) bool { _, disk := on.(*explore.Disk); return !disk }
			if c.Kind.Type == "" || slices.ContainsFunc(c.On, above) {
				return 0, nil, fmt.Errorf("crash states cannot be recovered in user-mode Linux: %s is not "+
					"a file system on disks", c.Kind.Name)
			}
			types = append(types, c.Kind.Type)
		}
	}
	return bytes, types, nil
}
