package verdict

import (
	"time"
)

// A Class says how the cost of a step for each of its rows grows with the file system.
type Class string

const (
	Constant  Class = "constant"  // does not grow: a test, or a look-up of a record by its key
	LogN      Class = "log n"     // a search in a tree
	Directory Class = "directory" // all objects of one id and kind, such as the entries of a directory
	Tree      Class = "tree"      // all records or objects of a kind
)

// A Plan describes how the compiled engine runs a clause of a rule. A clause that is split into its
// alternatives has several plans.
type Plan struct {
	Rule   string // "btrfs/17"
	Source string // "invariants/btrfs/dir.pl:12"
	// the change that starts it: "add(TREE,k(DIR,dir_item,HASH))"; "" if it runs once per commit
	Trigger string
	Steps   []Step // in the order of execution, the trigger first
	// Reference says why the reference engine interprets the clause, which then has no steps; "" if
	// it is compiled.
	Reference string
}

// A Step is a goal of a plan.
type Step struct {
	Goal   string // as written, with the values that the text determines
	Access string // how it is answered: "look-up by key", "scan of a directory", …
	Class  Class  // its cost for each row of the steps before it
	Depth  int    // nesting in negations, aggregates and alternatives
	Or     bool   // it begins an alternative to the steps before it, at its depth
	// Rows names the group that it goes through for each row of the steps before it, if the group
	// may be large: "names of one hash". Once names the group that it reads once for all rows:
	// "entries of one directory".
	Rows, Once string
	// Same: all records that start the plan may be in the group of Rows.
	Same bool
	// If Filter is true, at most one of its rows goes on. If Scope is true, that is so of the steps
	// inside it: a negation or a sum. If Kept is true, these run once for all records.
	Filter, Scope, Kept bool
	// Warning says what to do about a step that costs more than a search for each record; it is ""
	// for most steps.
	Warning string
}

// A Timing is the cost of a rule so far.
type Timing struct {
	Rule   string
	Last   time.Duration // in the last transaction
	Total  time.Duration
	Checks int   // number of transactions
	Rows   int64 // records and objects looked at in the last transaction
}

// Add adds the time of one run.
func (t *Timing) Add(took time.Duration) {
	t.Last += took
	t.Total += took
}

// A Fallback is a clause that the reference engine interprets, because it is outside the compiled
// language.
type Fallback struct {
	Rule   string
	Source string // file and line of the clause
	Why    string
}
