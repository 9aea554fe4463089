package change

// Outcome is what is known about a commit. The zero value is Undecided: what nobody has judged is not
// passed off as sound.
type Outcome uint8

const (
	Undecided Outcome = iota // a rule ran out of budget or erred, or a block could not be read
	Holds                    // everything that was asked holds
	Violated                 // something that was asked does not hold
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

// ViolationKind says which part of the checker found a violation.
type ViolationKind string

const (
	ByStructure ViolationKind = "structure" // types, bounds, reachability, uniqueness: checked in Go before any rule
	ByRule      ViolationKind = "rule"      // a rule of a .pl file
	ByWrite     ViolationKind = "write"     // a single write, judged as it arrived
	ByCall      ViolationKind = "call"      // a system call of the guest, held against what its disk did
)

// A Violation is one thing that does not hold, in words and with the place where it was seen.
type Violation struct {
	Rule    string        // "btrfs/17", or the name of the structure check, "btrfs/key-order"
	Kind    ViolationKind //
	Tree    string        // the first argument of the object: a tree id or a kind
	ID      string        // the second: "k(257,dir_item,123)", "12"; "" where there is no object
	Doc     string        // the property in one sentence for a person
	Detail  string        // what was found instead, "nritems is 5000, at most 493 fit"; "" for rules
	Source  string        // "invariants/btrfs/dir.pl:12"; "" for structure
	Addr    uint64        // device address in bytes, where known
	HasAddr bool
	Disk    string   // the name of the disk that Addr is on, where it is another than that of the commit
	Witness []string // change records that bear on it, in text form
	Why     []Reason // what made each goal of the rule true, in order; nil unless it was asked for
}

// Kinds of reasons.
const (
	ReasonRecord = "record" // a change record
	ReasonState  = "state"  // an object or field that was looked up in the state after the transaction
	ReasonAbsent = "absent" // a goal that has no answer: a negation
	ReasonTest   = "test"   // a comparison, a sum, a hash
	// ReasonUnknown: the violation could not be explained; Goal says why.
	ReasonUnknown = "unknown"
)

// A Reason is one goal of a rule that was true when a violation was found.
type Reason struct {
	Kind    string `json:"kind"`              // one of the kinds above
	Goal    string `json:"goal"`              // the goal with its variables filled in
	Because string `json:"because,omitempty"` // of a negation: the goal that the search for an answer ended at
}
