package campaign

import (
	"fmt"
	"slices"
	"strconv"
)

// An Outcome says what became of a unit.
type Outcome string

// The outcomes of units.
const (
	Tested   Outcome = "tested"   // each of its indexes was tested
	Split    Outcome = "split"    // it could not be run, and its halves are units now
	Poisoned Outcome = "poisoned" // its only index could not be run
)

// maxFindings is the number of findings of one unit that are kept.
const maxFindings = 256

// A Result says what a unit found.
type Result struct {
	Unit
	Outcome Outcome `json:"outcome"`
	Exit    int     `json:"exit"` // status of the command
	// Findings are in the order of their keys. If there are more than maxFindings, More of them are
	// left out.
	Findings []Count `json:"findings,omitempty"`
	More     uint64  `json:"more,omitempty"`
	Worker   string  `json:"worker"`
	Seconds  float64 `json:"seconds"`        // duration of the command
	Note     string  `json:"note,omitempty"` // why the unit could not be run
}

// A Count says how often a unit found a finding.
type Count struct {
	Key   string `json:"key"` // Finding.Key
	Count uint64 `json:"count"`
}

func (r *Result) check() error {
	if err := r.Unit.check(); err != nil {
		return err
	}
	single := r.From == r.To
	switch {
	case r.Outcome != Tested && r.Outcome != Split && r.Outcome != Poisoned,
		r.Outcome == Split && single, r.Outcome == Poisoned && !single:
		return fmt.Errorf("the outcome %.20q of unit %s", r.Outcome, r.ID())
	case len(r.Findings) > maxFindings:
		return fmt.Errorf("%d findings: more than %d", len(r.Findings), maxFindings)
	case r.Exit < 0 || r.Exit > 255, !(r.Seconds >= 0 && r.Seconds < 1e9):
		return fmt.Errorf("exit status %d after %v seconds", r.Exit, r.Seconds)
	}
	for i, c := range r.Findings {
		if !hashPattern.MatchString(c.Key) || i > 0 && r.Findings[i-1].Key >= c.Key {
			return fmt.Errorf("the finding %.20q", c.Key)
		}
	}
	if err := checkText("the worker", r.Worker); err != nil {
		return err
	}
	return checkText("the note", r.Note)
}

// digest returns a hash of what two runs of one unit should agree about.
func (r *Result) digest() string {
	parts := []string{string(r.Outcome), strconv.Itoa(r.Exit), strconv.FormatUint(r.More, 10)}
	for _, c := range r.Findings {
		parts = append(parts, c.Key)
	}
	return shortHash(parts...)
}

// A Finding is a kind of failure that a campaign found. All failures with the same key are one.
type Finding struct {
	Key      string `json:"key"`
	Kind     string `json:"kind"`
	Property string `json:"property,omitempty"`
	Skeleton string `json:"skeleton,omitempty"` // the operations of a workload
	Scope    string `json:"scope,omitempty"`    // Definition.Scope
	Surprise bool   `json:"surprise,omitempty"`
	Summary  string `json:"summary"`
	Unit     string `json:"unit"` // that found it first
	Worker   string `json:"worker"`
	// Object is the name of its files in the object store; "": Note says why there are none.
	Object string `json:"object,omitempty"`
	Note   string `json:"note,omitempty"`
}

// key returns the key that the finding must have.
func (f *Finding) key() string {
	return shortHash(f.Kind, f.Property, f.Skeleton, f.Scope, strconv.FormatBool(f.Surprise))
}

func (f *Finding) check() error {
	for _, text := range []string{f.Kind, f.Property, f.Skeleton, f.Scope, f.Summary, f.Unit, f.Worker,
		f.Note} {
		if err := checkText("a finding", text); err != nil {
			return err
		}
	}
	if f.Key != f.key() {
		return fmt.Errorf("the finding %.20q should have the key %s", f.Key, f.key())
	}
	if f.Object != "" && f.Object != objectName(f.Unit, f.Key) {
		return fmt.Errorf("the finding %s has the object %.40q", f.Key, f.Object)
	}
	return nil
}

// objectName returns the name of the files of a finding of a unit. Two workers that run the same
// unit write the same object.
func objectName(unit, key string) string { return unit + "." + key }

// counted returns counts in the order of their keys, each key once, at most maxFindings, and how
// many were left out.
func counted(list []Count) (out []Count, more uint64) {
	sum := make(map[string]uint64)
	for _, c := range list {
		sum[c.Key] += c.Count
	}
	for key, n := range sum {
		out = append(out, Count{key, n})
	}
	slices.SortFunc(out, func(a, b Count) int {
		if a.Key < b.Key {
			return -1
		}
		return 1
	})
	if len(out) > maxFindings {
		more = uint64(len(out) - maxFindings)
		out = out[:maxFindings]
	}
	return out, more
}
