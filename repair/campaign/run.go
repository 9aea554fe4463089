package campaign

import (
	"fmt"
	"regexp"

	"fsward/repair"
	"fsward/repair/adapter"
	"fsward/repair/sandbox"
)

// A Run is one run of a repair program.
type Run struct {
	Mode    string         `json:"mode"`
	Argv    []string       `json:"argv"`
	Outcome repair.Outcome `json:"outcome"` // what the program claims
	sandbox.Result
}

// Kinds of failures: what is wrong with a repair program.
const (
	Crash       = "crash"       // a signal, or a report of a sanitizer
	Hang        = "hang"        // a run did not end in time
	Flood       = "flood"       // a run printed more than its bound
	Status      = "status"      // an exit status that the program does not document
	Again       = "again"       // the second run contradicts the first (SWIFT's table 1)
	Cycle       = "cycle"       // further runs repeat without an end
	Lost        = "lost"        // a file that the damage did not touch is lost or changed
	Disagree    = "disagree"    // modes of the program disagree about clean
	Rules       = "rules"       // the program says clean, and fsward's rules are violated
	Interrupted = "interrupted" // after a crash during the repair, another repair does not mend it
	Mounts      = "mounts"      // the program says clean, and Linux does not mount or write it
	Undo        = "undo"        // the undo file of a repair does not give the damaged image back
	Incomplete  = "incomplete"  // repairs of other file systems recover more
	Trust       = "trust"       // a damaged copy counts more than the sound ones
)

// sanitized matches the report of a sanitizer of clang or gcc.
var sanitized = regexp.MustCompile(
	`ERROR: \w+Sanitizer|WARNING: \w+Sanitizer|SUMMARY: \w+Sanitizer|: runtime error: `)

// Ended says how a run ended, for people.
func (r *Run) Ended() string {
	switch {
	case r.TimedOut:
		return "did not end"
	case r.Flooded:
		return "printed too much"
	case r.Signal != "":
		return "ended by " + r.Signal
	}
	return fmt.Sprintf("exit status %d, %s", r.Status, r.Outcome)
}

// broken returns the kind of failure that a run shows by itself, and "" if it shows none.
func broken(p *adapter.Program, r *Run) string {
	switch {
	case r.TimedOut:
		return Hang
	case r.Flooded:
		return Flood
	case r.Signal != "" || p.Crash.In(r.Output) || sanitized.Match(r.Output):
		return Crash
	case r.Outcome == repair.Unknown:
		return Status
	}
	return ""
}
