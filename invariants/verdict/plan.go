package verdict

import (
	"time"
)

// A Class says how what a step costs for each of its rows grows with the file system.
type Class string

const (
	Constant  Class = "constant"  // does not grow: a test, or a look-up of a record by its key
	LogN      Class = "log n"     // a search in a tree
	Directory Class = "directory" // all objects of one id and kind, such as the entries of a directory
	Tree      Class = "tree"      // all records or objects of a kind
)

// A Plan says how the compiled engine runs a clause of a rule. A clause has several plans where it was
// split into its alternatives.
type Plan struct {
	Rule    string // "btrfs/17"
	Source  string // "invariants/btrfs/dir.pl:12"
	Trigger string // the change that starts it: "add(TREE,k(DIR,dir_item,HASH))"; "" if it runs for every commit
	Steps   []Step // in the order in which they run, the trigger first
	// Reference is why the clause is interpreted by the reference engine and has no steps; "" if it is compiled.
	Reference string
}

// A Step is a goal of a plan.
type Step struct {
	Goal   string // as written, with the values that are known from the text
	Access string // how it is answered: "look-up by key", "scan of a directory", …
	Class  Class  // what a step costs for each row of the steps before it
	Depth  int    // how deep the step is in negations, aggregates and alternatives
	Or     bool   // it begins another way of its depth, beside the steps before it
	// Warning says what to do about a step that costs more than a search for each record; "" for most.
	Warning string
}

// A Timing is what a rule has cost so far.
type Timing struct {
	Rule   string
	Last   time.Duration // in the last transaction
	Total  time.Duration
	Checks int   // transactions
	Rows   int64 // records and objects looked at in the last transaction
}

func (t *Timing) Add(took time.Duration) {
	t.Last += took
	t.Total += took
}

// A Fallback is a clause that is interpreted by the reference engine, as it is outside the language that is
// compiled.
type Fallback struct {
	Rule   string
	Source string // file and line of the clause
	Why    string
}
