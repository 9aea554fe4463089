package guard

import (
	"encoding/json"
	"errors"
	"strconv"

	"fsward/blocktap"
	"fsward/change"
	"fsward/interp"
	"fsward/invariants"
)

// Kinds of events, as they stand in the "event" of the JSON.
const (
	KindAttach    = "attach"     // a disk is guarded from now on
	KindCommit    = "commit"     // a commit point, judged
	KindLogCommit = "log_commit" // a Btrfs log commit, judged
	KindWrite     = "write"      // a single write that does not hold
	KindNote      = "note"       // a write that there is something to say about: a file system appeared, was mounted
	KindImage     = "image"      // a whole image, judged as one transaction of additions
	KindBaseline  = "baseline"   // the state that was there before any commit was judged, as a whole
	KindProgress  = "progress"   // how far the check of the baseline has come
	KindCall      = "call"       // a call of the guest returned before what it promised was durable
)

func kindOf(obs interp.Observation) string {
	switch {
	case obs.Point == interp.CommitPoint:
		return KindCommit
	case obs.Point == interp.LogPoint:
		return KindLogCommit
	case len(obs.Violations) == 0 && obs.Unknown == nil:
		return KindNote
	default:
		return KindWrite
	}
}

// What became of the write.
const (
	Passed  = "passed"  // it is on the disk
	Refused = "refused" // completed with EIO, never reached the disk
	Failed  = "failed"  // the disk itself failed
)

// An Event is one thing that the guard tells about: a commit with its verdict, mostly.
type Event struct {
	Disk       string
	FS         string
	Kind       string
	Generation uint64
	Records    int
	Outcome    change.Outcome
	Action     string // Passed, Refused, Failed; "" for an image
	Violations []change.Violation
	Undecided  []string
	InterpNS   int64      // time to interpret the write, nanoseconds
	CheckNS    int64      // time to interpret it and to check the rules: what the guest waits for
	AheadNS    int64      // how long before the write that was begun; 0: it was not
	RuleTimes  []RuleTime // what each rule cost; nil unless it was asked for
	Note       string
	Progress   *Progress // of KindProgress
	Err        string    // why the disk failed
}

// A Sink is told of events. It is called with the device's lock held, and beside that by the check of a baseline:
// it must not block for long.
type Sink interface {
	Event(ev *Event)
}

// add takes in the verdict of one part of what is judged.
func (ev *Event) add(v invariants.Verdict) {
	ev.Violations = append(ev.Violations, v.Violations...)
	ev.Undecided = append(ev.Undecided, v.Undecided...)
	switch {
	case v.Outcome == change.Violated || ev.Outcome == change.Violated:
		ev.Outcome = change.Violated
	case v.Outcome == change.Undecided:
		ev.Outcome = change.Undecided
	}
}

func (ev *Event) settle(err error) {
	switch {
	case err == nil:
		ev.Action = Passed
	case errors.Is(err, blocktap.ErrRefused):
		ev.Action = Refused
	default:
		ev.Action, ev.Err = Failed, err.Error()
	}
}

type violationJSON struct {
	Rule    string          `json:"rule"`
	Kind    string          `json:"kind"`
	Tree    any             `json:"tree,omitempty"` // a number (Btrfs), a word (ext3)
	ID      string          `json:"id,omitempty"`
	Doc     string          `json:"doc"`
	Detail  string          `json:"detail,omitempty"`
	Addr    *uint64         `json:"addr,omitempty"`
	Disk    string          `json:"disk,omitempty"` // that of addr, where it is not the event's
	Source  string          `json:"source,omitempty"`
	Witness []string        `json:"witness,omitempty"`
	Why     []change.Reason `json:"why,omitempty"`
}

// MarshalJSON writes the one-line form that scripts read.
func (ev *Event) MarshalJSON() ([]byte, error) {
	out := struct {
		Event      string          `json:"event"`
		Disk       string          `json:"disk,omitempty"`
		FS         string          `json:"fs,omitempty"`
		Generation uint64          `json:"generation"`
		Records    int             `json:"records"`
		Verdict    string          `json:"verdict"`
		Action     string          `json:"action,omitempty"`
		InterpNS   int64           `json:"interp_ns"`
		CheckNS    int64           `json:"check_ns"`
		AheadNS    int64           `json:"ahead_ns,omitempty"`
		RuleTimes  []RuleTime      `json:"rule_times,omitempty"`
		Violations []violationJSON `json:"violations"`
		Undecided  []string        `json:"undecided,omitempty"`
		Note       string          `json:"note,omitempty"`
		Progress   *Progress       `json:"progress,omitempty"`
		Err        string          `json:"error,omitempty"`
	}{ev.Kind, ev.Disk, ev.FS, ev.Generation, ev.Records, ev.Outcome.String(), ev.Action, ev.InterpNS, ev.CheckNS, ev.AheadNS, ev.RuleTimes,
		make([]violationJSON, len(ev.Violations)), ev.Undecided, ev.Note, ev.Progress, ev.Err}
	for i, v := range ev.Violations {
		out.Violations[i] = violationJSON{v.Rule, string(v.Kind), TreeJSON(v.Tree), v.ID, v.Doc, v.Detail, nil, v.Disk, v.Source, v.Witness, v.Why}
		if v.HasAddr {
			out.Violations[i].Addr = &v.Addr
		}
	}
	return json.Marshal(out)
}

func TreeJSON(tree string) any {
	if tree == "" {
		return nil
	}
	if n, err := strconv.ParseInt(tree, 10, 64); err == nil {
		return n
	}
	return tree
}
