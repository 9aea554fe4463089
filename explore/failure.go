package explore

import "fmt"

// A Failure is an error of what is checked. Any other error says that it could not be checked.
type Failure struct {
	Kind string // what is wrong, in a word or two, the same for errors of one cause: "file gone"
	Text string // what was expected and what is there
	// Property is what does not hold: "fsync", "recovery"; "" is what the checker asks, if that is one thing. The explorer sets it for
	// what is found after a crash.
	Property string
}

func (f *Failure) Error() string { return f.Kind + ": " + f.Text }

// of returns an error as one of a property, unless it is of one already; nil where there is none.
func (f *Failure) withProperty(property string) *Failure {
	if f != nil && f.Property == "" {
		f.Property = property
	}
	return f
}

// like says that two errors are of one kind: they are counted together, and one shows the other again.
func (f *Failure) matches(kind, property string) bool {
	return f.Kind == kind && f.Property == property
}

// Properties that do not hold whatever a checker asks.
const (
	Recovered = "recovery"   // what a crash left is recovered, mounted and unmounted
	Invariant = "invariants" // what a crash left holds to them
)

// Failuref makes a Failure.
func Failuref(kind, format string, args ...any) error {
	return &Failure{Kind: kind, Text: fmt.Sprintf(format, args...)}
}
