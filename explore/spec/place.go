package spec

import (
	"errors"
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

// choosePlaces keeps the places that the run has chosen. User-mode Linux makes no checkpoints.
func (r *Run) choosePlaces() {
	r.RunIn, r.RecoverIn = r.places()
	if r.RunIn == InUserMode && (r.Restore == "" || r.Restore == explore.ByCost) {
		r.Restore = explore.ByReplay
	}
}

// UserModeNeeds is what user-mode Linux needs for a stack.
type UserModeNeeds struct {
	Bytes   uint64   // of all disks
	Types   []string // of file systems, for mount(2)
	Modules []string // of the kernel
	// Layer is the name of a layer that is no file system on disks; "": there is none. Such a layer
	// may keep something outside of the disks, so that another kernel cannot recover it.
	Layer string
}

// UserMode returns what user-mode Linux needs to run a stack.
func (s Spec) UserMode() (n UserModeNeeds, err error) {
	top, err := s.Components()
	if err != nil {
		return n, err
	}
	needs, err := s.AllNeeds()
	if err != nil {
		return n, err
	}
	n.Modules = needs.Modules
	for _, c := range (explore.Stack{Top: top}).Components() {
		switch c := c.(type) {
		case *explore.Disk:
			n.Bytes += c.Bytes
		case *component.Component:
			above := func(on explore.Component) bool { _, disk := on.(*explore.Disk); return !disk }
			if c.Kind.Type == "" || slices.ContainsFunc(c.On, above) {
				n.Layer = c.Kind.Name
			}
			if c.Kind.Type != "" {
				n.Types = append(n.Types, c.Kind.Type)
			}
		}
	}
	return n, nil
}

// userModePackage is the Debian package of user-mode Linux.
const userModePackage = "user-mode-linux"

// checkPlaces returns an error if the run cannot be in user-mode Linux as it wants.
func (r Run) checkPlaces(cfg *explore.Config) error {
	run, recoverIn := r.places()
	switch {
	case run == InUserMode:
		needs, err := r.AllNeeds()
		if err != nil {
			return err
		}
		if slices.Contains(needs.Packages, userModePackage) {
			return errors.New("user-mode Linux does not run in itself: run the stack in the guest")
		}
		return cfg.CanRunWithoutModules()
	case recoverIn == InUserMode:
		n, err := r.UserMode()
		if err != nil {
			return err
		}
		if n.Layer != "" {
			return fmt.Errorf("crash states cannot be recovered in another kernel: %s is not a file "+
				"system on disks", n.Layer)
		}
		return cfg.CanRecoverApart()
	}
	return nil
}
