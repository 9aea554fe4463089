package explore

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
)

// Totals counts the work of a run, all its parts together.
type Totals struct {
	States      uint64 `json:"states"` // states with different signatures
	Runs        uint64 `json:"runs"`   // executions: calls of Mutate with new choices
	CrashStates uint64 `json:"crash_states"`
	Early       uint64 `json:"early,omitempty"` // crash states with early blocks
	// CutShort counts the crash states and process crashes that were examined in steps that the end of
	// the run cut short. CrashStates and ProcessCrashes do not have them, because the steps are
	// executed again when the run is resumed.
	CutShort uint64 `json:"cut_short,omitempty"`
	// Possible counts all crash states that the windows allow. Equal states count each time.
	Possible       float64 `json:"possible"`
	ProcessCrashes uint64  `json:"soft_states,omitempty"`
	Sampled        uint64  `json:"sampled"`   // moments with more crash states than the limit
	Pruned         uint64  `json:"pruned"`    // crash states that were equal to others
	Alike          uint64  `json:"alike"`     // crash states whose recovered disk equals another's
	Judged         uint64  `json:"judged"`    // crash states that were judged on the host
	Undecided      uint64  `json:"undecided"` // judged crash states without a verdict
	Recovered      uint64  `json:"recovered"` // recoveries in the guest
	// CommitKnown counts the recoveries whose tree was compared with that of the last commit.
	// CommitUnknown counts those for which fsward could not read that commit.
	CommitKnown   uint64 `json:"commit_known,omitempty"`
	CommitUnknown uint64 `json:"commit_unknown,omitempty"`
	// CommitContents counts the files of these trees whose contents were compared, and CommitUnread
	// those whose contents fsward does not know. CommitLogged counts the entries that were left out,
	// because the log of a Btrfs may change them.
	CommitContents uint64 `json:"commit_contents,omitempty"`
	CommitUnread   uint64 `json:"commit_unread,omitempty"`
	CommitLogged   uint64 `json:"commit_logged,omitempty"`
	// Interrupted counts the crash states that crashes during recovery left. Unread counts the
	// interrupted ones that differ only in blocks that the recovery does not read.
	Interrupted uint64 `json:"interrupted,omitempty"`
	Unread      uint64 `json:"unread,omitempty"`
	// Remembered counts recoveries that were skipped, since an earlier recovery had read the same.
	Remembered uint64 `json:"remembered,omitempty"`
	Failed     uint64 `json:"failed"` // executions with injected faults
	// Inspected counts the crash states that were used and verified after their recovery.
	Inspected uint64 `json:"inspected,omitempty"`
	// MountFaults counts the faults in a mount or an unmount before a recovery.
	MountFaults uint64 `json:"mount_faults,omitempty"`
	Loaded      uint64 `json:"loaded,omitempty"` // executions that began with a checkpoint
	Diverged    uint64 `json:"diverged"`         // replays that diverged
	// Unjudged counts the crash states and the steps that were not judged, because a command was too
	// slow: SlowError. CrashStates does not have them.
	Unjudged    uint64 `json:"unjudged,omitempty"`
	Idle        uint64 `json:"idle,omitempty"`    // executions whose chosen thread found no work
	Unscheduled uint64 `json:"strayed,omitempty"` // executions with unscheduled threads
	Waiting     uint64 `json:"waiting"`           // states in the frontier
	// Familiar counts the states with a feature that an earlier state had. LeastSeen puts them behind
	// states whose features are new.
	Familiar uint64 `json:"familiar,omitempty"`
	// Edges counts the steps from one point of the kernel's code to another that executions ran.
	// EdgesCut counts the executions of which some are missing.
	Edges    uint64 `json:"edges,omitempty"`
	EdgesCut uint64 `json:"edges_cut,omitempty"`
	Deepest  int    `json:"deepest"` // the most steps of an execution
	commandCount
	// Seconds is the duration of the run. Restoring is its part for reaching the parent states
	// again, Running that for executing steps after that, Judging that for judging crash states on the
	// host, and Recovering that for recovering and checking them. Forming is the part for forming
	// them, and Checking that part of Recovering in which the checker uses the recovered disk.
	Seconds    float64 `json:"seconds"`
	Restoring  float64 `json:"restoring_seconds"`
	Running    float64 `json:"running_seconds"`
	Judging    float64 `json:"judging_seconds"`
	Recovering float64 `json:"recovering_seconds"`
	Forming    float64 `json:"forming_seconds"`
	Checking   float64 `json:"checking_seconds"`
}

// addJudgment counts a crash state that a Judge judged.
func (t *Totals) addJudgment(j Judgment) {
	t.Judged++
	if j.Undecided {
		t.Undecided++
	}
	if j.Pruned {
		t.Pruned++
	}
}

// An Event reports the progress of a run.
type Event struct {
	// Event is "progress", "error", "surprise", "diverged", "unjudged", "strayed" or "coverage".
	Event string `json:"event"`
	Totals
	Depth int    `json:"depth,omitempty"` // steps of the execution
	Error *Error `json:"error,omitempty"` // with "error" and "surprise"
	Text  string `json:"text,omitempty"`  // with "diverged", "unjudged", "strayed" and "coverage"
	// Available is the memory of the machine that is free or can be freed, in bytes, with
	// "progress". 0: it is not known.
	Available uint64 `json:"guest_available,omitempty"`
}

// A Summary is the result of a run.
type Summary struct {
	Totals
	// Asked has the number of crashes that were tried for each property. Pruned ones count, too.
	Asked    map[string]uint64
	Errors   []Error
	Complete bool // nothing is left to explore, and everything was judged
	// Coverage is that of the kernel's code; nil: it was not recorded.
	Coverage *Coverage
	// Crashless: by design the checker requests no crashes. Read does not set it.
	Crashless bool
}

// Broken returns the number of errors that are no surprises.
func (s *Summary) Broken() (n int) {
	for _, e := range s.Errors {
		if !e.Surprise {
			n++
		}
	}
	return n
}

// ErrNotBegun is the error for a folder without a first state: its run failed before it.
var ErrNotBegun = errors.New("it did not reach its first state")

// Origin returns Config.Origin of the run in a folder. After ErrNotBegun, another run may use the
// folder.
func Origin(dir string) (origin json.RawMessage, err error) {
	if _, err := os.Stat(filepath.Join(dir, storeName)); err != nil {
		return nil, fmt.Errorf("no run was begun in %s: %w", dir, err)
	}
	s, err := openStore(dir)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, s.close()) }()
	if found, err := s.meta(keyConfig, &origin); err != nil || !found {
		return nil, errors.Join(fmt.Errorf("the run in %s: %w", dir, ErrNotBegun), err)
	}
	return origin, nil
}

// Read returns the summary of the run in a folder as it stands now.
func Read(dir string) (sum Summary, err error) {
	if _, err := Origin(dir); err != nil {
		return sum, err
	}
	s, err := openStore(dir)
	if err != nil {
		return sum, err
	}
	defer func() { err = errors.Join(err, s.close()) }()
	if _, err := s.meta(keyTotals, &sum.Totals); err != nil {
		return sum, err
	}
	if _, err := s.meta(keyAsked, &sum.Asked); err != nil {
		return sum, err
	}
	if sum.Coverage, err = s.coverage(); err != nil {
		return sum, err
	}
	sum.Complete = sum.Waiting == 0 && sum.Unjudged == 0
	sum.Errors, err = s.errors()
	return sum, err
}
