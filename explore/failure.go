package explore

import "fmt"

// A Failure describes a defect of the storage that is checked. Any other error means that the check
// itself could not be done.
type Failure struct {
	// Kind names the defect in a word or two, such as "file gone". Failures with the same cause
	// have the same kind.
	Kind string
	Text string // what was expected, and what was found
	// Property names what does not hold, such as "fsync" or "recovery". It is "" for a checker that
	// has one property only. For a failure after a crash, the explorer sets it.
	Property string
	// Surprise means that no promise is broken. It is a loss that a user of ext4 does not expect, or
	// damage that a recovery had to repair.
	Surprise bool
	more     []*Failure // further surprises of the same crash state
}

func (f *Failure) Error() string { return f.Kind + ": " + f.Text }

// withProperty sets the property of f if it has none, and returns f. f may be nil.
func (f *Failure) withProperty(property string) *Failure {
	if f != nil && f.Property == "" {
		f.Property = property
	}
	return f
}

// matches reports whether f has this kind and this property. Failures that match are counted
// together, and a replay that shows one of them has reproduced the other.
func (f *Failure) matches(kind, property string) bool {
	return f.Kind == kind && f.Property == property
}

// pick returns f, or the surprise beside it, that matches; nil: none does.
func (f *Failure) pick(kind, property string) *Failure {
	if f == nil {
		return nil
	}
	for _, one := range append([]*Failure{f}, f.more...) {
		if one.matches(kind, property) {
			return one
		}
	}
	return nil
}

// Properties that are checked after a crash whatever the checker is.
const (
	Recovered = "recovery"   // the crash state can be recovered, mounted and unmounted
	Invariant = "invariants" // the crash state violates no invariant
)

// Failuref returns a *Failure with a formatted text.
func Failuref(kind, format string, args ...any) error {
	return &Failure{Kind: kind, Text: fmt.Sprintf(format, args...)}
}
