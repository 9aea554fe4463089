// Package repair defines the outcomes that a run of a repair program such as e2fsck can claim, and
// which outcomes may follow each other.
//
// The packages below it test the programs. Start with repair/campaign.
package repair

import "fmt"

// An Outcome is what a run of a repair program claims about the file system.
type Outcome uint8

// The outcomes. Unknown is invalid: no program claims it.
const (
	Unknown     Outcome = iota
	Consistent          // no errors
	Corrected           // errors, all of which it corrected
	Partly              // errors, some of which it corrected
	Left                // errors, which it left
	Operational         // the program could not do its work
)

var outcomeNames = [...]string{Unknown: "unknown", Consistent: "consistent", Corrected: "corrected",
	Partly: "partly", Left: "left", Operational: "operational"}

// Outcomes lists the names of all outcomes that a program can claim.
func Outcomes() []string { return outcomeNames[Consistent:] }

func (o Outcome) String() string {
	if int(o) < len(outcomeNames) {
		return outcomeNames[o]
	}
	return fmt.Sprintf("outcome %d", uint8(o))
}

// Clean reports whether the run claims that the file system has no errors when it ends.
func (o Outcome) Clean() bool { return o == Consistent || o == Corrected }

// AllowedCheck reports whether a run that only checks may claim check after a repair that claimed
// first. A check cannot tell errors that are left from those that made the repair give up.
func AllowedCheck(first, check Outcome) bool {
	switch first {
	case Consistent, Corrected:
		return check == Consistent
	case Partly, Left, Operational:
		return check == Left || check == Operational
	default:
		return false
	}
}

// Agrees reports whether a run that only checks and a run that repairs may claim o and p of the
// same image: both call it consistent, or neither.
func (o Outcome) Agrees(p Outcome) bool { return (o == Consistent) == (p == Consistent) }

// UnmarshalText reads the name of an outcome.
func (o *Outcome) UnmarshalText(text []byte) error {
	for i, name := range outcomeNames {
		if name == string(text) {
			*o = Outcome(i)
			return nil
		}
	}
	return fmt.Errorf("outcome %q is not one of %v", text, Outcomes())
}

// MarshalText returns the name of the outcome.
func (o Outcome) MarshalText() ([]byte, error) { return []byte(o.String()), nil }

// Allowed reports whether a second run may claim second after the first claimed first. It is table
// 1 of SWIFT (EuroSys 2012): after a run that claims a consistent file system, the next must find
// nothing, and what one run leaves, the next leaves too.
func Allowed(first, second Outcome) bool {
	switch first {
	case Consistent, Corrected:
		return second == Consistent
	case Partly, Left:
		return second == Left
	case Operational:
		return second == Operational
	default:
		return false
	}
}
