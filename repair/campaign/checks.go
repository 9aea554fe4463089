package campaign

import (
	"fmt"
	"slices"
	"strings"

	"fsward/interp"
	"fsward/repair/adapter"
)

// Names of checks. Consistency is always checked.
const (
	Consistency = "consistency"
)

// CheckNames lists the checks that a campaign can make.
func CheckNames() []string { return []string{Consistency} }

// checks are the questions that are asked about each damage, besides the second run.
type checks struct {
	agree bool
}

// newChecks reads the names of checks.
func newChecks(names []string) (*checks, error) {
	c := &checks{}
	for _, n := range names {
		if !slices.Contains(CheckNames(), n) {
			return nil, fmt.Errorf("check %q is not one of %s", n, strings.Join(CheckNames(), ", "))
		}
	}
	return c, nil
}

func (w *worker) ask(*trial, *adapter.Mode) error         { return nil }
func (w *worker) afterFirst(*trial, []interp.Patch) error { return nil }
func (w *worker) afterClean(*trial) error                 { return nil }
