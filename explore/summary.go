package explore

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
)

// Totals are what a run has done, all its parts together.
type Totals struct {
	States         uint64  `json:"states"`                // with different signatures
	Runs           uint64  `json:"runs"`                  // of Mutate, each with other choices
	CrashStates    uint64  `json:"crash_states"`          // disks that crashes left, each different for what was expected
	Early          uint64  `json:"early,omitempty"`       // of them, those with blocks that had not been submitted
	Possible       float64 `json:"possible"`              // crash states that there are, those that are equal counted as often as they arise
	ProcessCrashes uint64  `json:"soft_states,omitempty"` // prefixes of system calls
	Sampled        uint64  `json:"sampled"`               // moments with more crash states than the limit
	Pruned         uint64  `json:"pruned"`                // crash states that were like others
	Judged         uint64  `json:"judged"`                // on the host
	Undecided      uint64  `json:"undecided"`             // of them, those of which the judge could not say
	Recovered      uint64  `json:"recovered"`             // in the guest
	Interrupted    uint64  `json:"interrupted,omitempty"` // disks that crashes during recovery left
	Unread         uint64  `json:"unread,omitempty"`      // of them, those that differ in nothing that the recovery reads
	Remembered     uint64  `json:"remembered,omitempty"`  // recoveries that were not run, since one that read the same was
	Failed         uint64  `json:"failed"`                // runs in which calls inside the kernel failed
	Loaded         uint64  `json:"loaded,omitempty"`      // runs that began with a checkpoint
	Diverged       uint64  `json:"diverged"`              // replays that were not what they had been
	Idle           uint64  `json:"idle,omitempty"`        // turns of threads that had nothing to do
	Unscheduled    uint64  `json:"strayed,omitempty"`     // runs in which a thread ran though it was held: they may not replay
	Waiting        uint64  `json:"waiting"`               // states whose children are not all run
	Deepest        int     `json:"deepest"`               // calls of Mutate
	Seconds        float64 `json:"seconds"`
	Restoring      float64 `json:"restoring_seconds"`  // of them: to be in a state again, once for each run
	Recovering     float64 `json:"recovering_seconds"` // of them: recovering and checking crash disks
}

// An Event is what happens in a run.
type Event struct {
	Event string `json:"event"` // "progress", "error", "diverged", "strayed"
	Totals
	Depth     int    `json:"depth,omitempty"` // of what is run
	Error     *Error `json:"error,omitempty"`
	Text      string `json:"text,omitempty"`
	Available uint64 `json:"guest_available,omitempty"` // with "progress": bytes of the machine's memory that it could still use; 0: it does not say
}

// A Summary is what a run has found.
type Summary struct {
	Totals
	Asked    map[string]uint64 // by property, how many crashes were tried for it: those that are like others are counted too
	Errors   []Error
	Complete bool // there is nothing more to explore
}

// ErrNotBegun: a run could not be begun, and there is nothing in its folder.
var ErrNotBegun = errors.New("it did not get as far as its first state")

// Origin returns Config.Origin of the run in a folder. Where that is ErrNotBegun another may begin there.
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

// Read returns what the run in a folder has found so far.
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
	sum.Complete = sum.Waiting == 0
	sum.Errors, err = s.errors()
	return sum, err
}
