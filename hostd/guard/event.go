package guard

import (
	"cmp"
	"encoding/json"
	"errors"
	"strconv"

	"fsward/blocktap"
	"fsward/change"
	"fsward/explore/audit"
	"fsward/interp"
	"fsward/invariants"
)

// Kinds of events: the values of "event" in the JSON.
const (
	KindAttach    = "attach"     // a disk is guarded from now on
	KindCommit    = "commit"     // a commit point and its verdict
	KindLogCommit = "log_commit" // a Btrfs log commit and its verdict
	KindWrite     = "write"      // a single write that does not hold
	// a write that is worth a remark: a file system appeared, or was mounted
	KindNote     = "note"
	KindImage    = "image"    // a whole image, checked as one transaction of additions
	KindBaseline = "baseline" // the whole state that was there before the first commit
	KindProgress = "progress" // how far the check of the baseline, or a long judgment, is
	KindWaiting  = "waiting"  // a commit waits for a disk that lags
	KindCall     = "call"     // a call of the guest returned before its promise was durable
	// a disk that a crash could have left violates an invariant
	KindCrashState = "crash_state"
	// Events about fsward itself. They have no verdict.
	KindRecording = "recording" // the recording of a disk has failed and has stopped
	KindAudit     = "audit"     // crash states of a disk are not audited from a place on
	KindDropped   = "dropped"   // reports were dropped at this place
)

// kindOf returns the kind of event of an observation.
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

// What happened to the write.
const (
	Passed  = "passed"  // it is on the disk
	Refused = "refused" // completed with EIO; it never reached the disk
	Failed  = "failed"  // the disk itself failed
)

// An Event is one thing that the guard reports, most often a commit with its verdict.
type Event struct {
	Disk   string
	Volume string // "" for a whole disk, "p2" for a partition, "vg/lv" for a logical volume
	// State is, in an event about a volume that is not a verdict, the state of the volume: see
	// StateGuarded. It may be "".
	State      string
	FS         string
	Kind       string
	Generation uint64
	Records    int
	Steps      int64 // that the judgment took; 0: they were not counted
	Outcome    change.Outcome
	RulesHash  string // of the rules that judged: see RuleSetInfo.Hash; "" if none did
	Action     string // Passed, Refused or Failed; "" for an image
	Violations []change.Violation
	Undecided  []string
	InterpNS   int64 // time to interpret the write, nanoseconds
	// time to interpret the write and check the rules, nanoseconds: the guest waits that long
	CheckNS int64
	// how long before the write its speculative check began, nanoseconds; 0 without one
	AheadNS   int64
	RuleTimes []RuleTime // time of each rule; nil unless RulesConfig.Timing
	Note      string
	Progress  *Progress // of KindProgress
	// Unverified: an undecided commit is on the volume, and no check has found it sound since.
	Unverified bool
	// Repeats: the write is a further copy of a superblock whose commit was refused.
	Repeats bool
	// Since is, in a finding about an unverified volume, the first commit that can have caused it;
	// Generation is the last one. 0: it is not known.
	Since   uint64
	Dropped uint64 // reports, of KindDropped
	Err     string // the error of the disk, of the recording, or of the audit
	// Crash is the crash state, of KindCrashState.
	Crash *audit.Finding
	// NotAudited is the first entry after which crash states are not audited, of KindAudit.
	NotAudited *Place
}

// A Sink receives events. It is called with the device's lock held, and concurrently by the check
// of a baseline, so it must not block for long.
type Sink interface {
	Event(ev *Event)
}

// add adds the verdict of one part of the state.
func (ev *Event) add(v invariants.Verdict) {
	ev.Violations = append(ev.Violations, v.Violations...)
	ev.Undecided = append(ev.Undecided, v.Undecided...)
	ev.RulesHash = v.RulesHash
	switch {
	case v.Outcome == change.Violated || ev.Outcome == change.Violated:
		ev.Outcome = change.Violated
	case v.Outcome == change.Undecided:
		ev.Outcome = change.Undecided
	}
}

// note adds a note, which may be "".
func (ev *Event) note(text string) {
	if ev.Note != "" && text != "" {
		text = "; " + text
	}
	ev.Note += text
}

// settle notes what happened to the write, given its error.
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
	Rule string `json:"rule"`
	Kind string `json:"kind"`
	// "refuse", "pause" or "log"
	Severity string `json:"severity"`
	// the reason for which this object is exempt from the rule
	Exempt string  `json:"exempt,omitempty"`
	Tree   any     `json:"tree,omitempty"` // a number (Btrfs) or a word (ext3)
	ID     string  `json:"id,omitempty"`
	Doc    string  `json:"doc"`
	Detail string  `json:"detail,omitempty"`
	Addr   *uint64 `json:"addr,omitempty"`
	// the disk of addr, unless it is the event's own disk
	Disk    string          `json:"disk,omitempty"`
	Source  string          `json:"source,omitempty"`
	Witness []string        `json:"witness,omitempty"`
	Why     []change.Reason `json:"why,omitempty"`
}

// verdict returns the verdict for the JSON report; "" if the event is about fsward itself or about
// a commit that is not judged yet. Only an event about a guarded volume can have "holds".
func (ev *Event) verdict() string {
	switch ev.Kind {
	case KindWaiting, KindRecording, KindAudit, KindDropped:
		return ""
	}
	if ev.FS == "" && ev.Outcome == change.Holds {
		return ""
	}
	return ev.Outcome.String()
}

// MarshalJSON returns the one-line form that scripts read.
func (ev *Event) MarshalJSON() ([]byte, error) {
	out := struct {
		Event      string          `json:"event"`
		Disk       string          `json:"disk,omitempty"`
		Volume     string          `json:"volume,omitempty"`
		State      string          `json:"state,omitempty"`
		FS         string          `json:"fs,omitempty"`
		Generation uint64          `json:"generation"`
		Records    int             `json:"records"`
		Steps      int64           `json:"steps,omitempty"`
		Verdict    string          `json:"verdict,omitempty"`
		RulesHash  string          `json:"rules_hash,omitempty"`
		Action     string          `json:"action,omitempty"`
		InterpNS   int64           `json:"interp_ns"`
		CheckNS    int64           `json:"check_ns"`
		AheadNS    int64           `json:"ahead_ns,omitempty"`
		RuleTimes  []RuleTime      `json:"rule_times,omitempty"`
		Violations []violationJSON `json:"violations"`
		Undecided  []string        `json:"undecided,omitempty"`
		Note       string          `json:"note,omitempty"`
		Progress   *Progress       `json:"progress,omitempty"`
		Unverified bool            `json:"unverified,omitempty"`
		Repeats    bool            `json:"repeats,omitempty"`
		Since      uint64          `json:"since_generation,omitempty"`
		Dropped    uint64          `json:"dropped,omitempty"`
		Err        string          `json:"error,omitempty"`
		Crash      *audit.Finding  `json:"crash,omitempty"`
		NotAudited *Place          `json:"not_audited,omitempty"`
	}{ev.Kind, ev.Disk, ev.Volume, ev.State, ev.FS, ev.Generation, ev.Records, ev.Steps, ev.verdict(),
		ev.RulesHash, ev.Action, ev.InterpNS, ev.CheckNS, ev.AheadNS, ev.RuleTimes,
		make([]violationJSON, len(ev.Violations)), ev.Undecided, ev.Note, ev.Progress,
		ev.Unverified, ev.Repeats, ev.Since, ev.Dropped, ev.Err, ev.Crash, ev.NotAudited}
	for i, v := range ev.Violations {
		out.Violations[i] = violationJSON{v.Rule, string(v.Kind), severityOf(&v), v.Exempt,
			TreeJSON(v.Tree), v.ID, v.Doc, v.Detail, nil, v.Disk, v.Source, v.Witness, v.Why}
		if v.HasAddr {
			out.Violations[i].Addr = &v.Addr
		}
	}
	return json.Marshal(out)
}

// severityOf returns the severity of a violation as reports have it.
func severityOf(v *change.Violation) string { return cmp.Or(v.Severity, invariants.SeverityRefuse) }

// TreeJSON returns a tree for the JSON report: a number if it is one, else the word; nil for "".
func TreeJSON(tree string) any {
	if tree == "" {
		return nil
	}
	if n, err := strconv.ParseInt(tree, 10, 64); err == nil {
		return n
	}
	return tree
}
