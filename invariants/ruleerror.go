package invariants

import "fmt"

// A ruleError is a mistake that shows when a rule runs: a comparison of what is no number, a primitive
// called in a mode that it does not have. It makes the rule undecided, whatever the rule would have said.
type ruleError struct{ text string }

func (e ruleError) Error() string { return e.text }

func errorf(format string, args ...any) error { return ruleError{fmt.Sprintf(format, args...)} }
