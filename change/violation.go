package change

// Outcome is the verdict about a commit. The zero value is Undecided, so that a commit that was not
// checked does not count as sound.
type Outcome uint8

const (
	Undecided Outcome = iota // a rule exceeded its budget or failed, or a block could not be read
	Holds                    // all checks passed
	Violated                 // at least one check failed
)

func (o Outcome) String() string {
	switch o {
	case Holds:
		return "holds"
	case Violated:
		return "violated"
	default:
		return "undecided"
	}
}

// ViolationKind is the part of the checker that found a violation.
type ViolationKind string

const (
	// ByStructure: a type, bound, reference or unique key is invalid. Go code checks these before
	// rules.
	ByStructure ViolationKind = "structure"
	// ByRule: a rule of a .pl file does not hold.
	ByRule ViolationKind = "rule"
	// ByWrite: a single write is invalid. It is checked on arrival.
	ByWrite ViolationKind = "write"
	// ByCall: a system call of the guest returned although its disk did not do what the call promises.
	ByCall ViolationKind = "call"
)

// A Violation is one breach of a property, with its description and its location.
type Violation struct {
	Rule    string // "btrfs/17", or the name of a structure check: "btrfs/key-order"
	Kind    ViolationKind
	Tree    string   // the first argument of the object: a tree id or a kind
	ID      string   // the second argument: "k(257,dir_item,123)", "12"; "" if there is no object
	Doc     string   // the property in one sentence
	Detail  string   // the observed breach: "nritems is 5000, at most 493 fit"; "" for rules
	Source  string   // the location of the rule: "invariants/btrfs/dir.pl:12"; "" if none
	Addr    uint64   // device address in bytes; valid if HasAddr
	HasAddr bool     // the address is known
	Disk    string   // the name of the disk with Addr, if it is not the disk of the commit
	Witness []string // the change records that prove the violation, as text
	// Severity is what a guard does with the commit: SeverityLog, or "pause"; "" means to refuse it.
	Severity string
	// Exempt is the reason for which this object is exempt from the rule; "": it is not.
	Exempt string
	Why    []Reason // the reason for each goal of the rule, in order; nil unless requested
}

// SeverityLog is the severity of a violation that is reported and stops nothing.
const SeverityLog = "log"

// Acts reports whether the violation makes its commit violated.
func (v *Violation) Acts() bool { return v.Exempt == "" && v.Severity != SeverityLog }

// Kinds of reasons.
const (
	ReasonRecord = "record" // a change record
	ReasonState  = "state"  // an object or field in the state after the transaction
	ReasonAbsent = "absent" // a negation: the goal has no answer
	ReasonTest   = "test"   // a comparison, a sum, a hash
	// ReasonUnknown means that the violation could not be explained. Goal says why.
	ReasonUnknown = "unknown"
)

// A Reason is one goal of a rule that was true when a violation was found.
type Reason struct {
	Kind    string `json:"kind"`              // one of the kinds above
	Goal    string `json:"goal"`              // the goal with the values of its variables
	Because string `json:"because,omitempty"` // negation: the goal that ended the search for answers
}
