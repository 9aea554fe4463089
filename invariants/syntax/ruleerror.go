package syntax

import "fmt"

// A RuleError is a mistake that shows when a rule runs: a comparison of something that is not a
// number, a primitive called in a mode that it does not have. It makes the rule undecided, whatever
// else the rule finds.
type RuleError struct{ Text string }

func (e RuleError) Error() string { return e.Text }

// RuleErrorf formats a RuleError.
func RuleErrorf(format string, args ...any) error { return RuleError{fmt.Sprintf(format, args...)} }
