package explore

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
)

// errorName is the file of an Error in its folder.
const errorName = "error.json"

// An Error is a failure that a run found, with everything that is needed to reproduce it.
type Error struct {
	Kind     string          `json:"kind"`               // Failure.Kind
	Property string          `json:"property,omitempty"` // Failure.Property
	Surprise bool            `json:"surprise,omitempty"` // Failure.Surprise
	Summary  string          `json:"summary"`            // Failure.Text
	Dir      string          `json:"dir"`                // its folder, relative to that of the run
	Origin   json.RawMessage `json:"origin,omitempty"`   // Config.Origin
	Setup    []Choice        `json:"setup,omitempty"`    // the choices of the setup
	Steps    [][]Choice      `json:"steps"`              // the choices of each step
	Did      [][]string      `json:"did"`                // what each step did, in readable form
	Fail     []InjectedFault `json:"fail,omitempty"`     // injected into the last step
	// StepFaults are those of the earlier steps; nil: there are none.
	StepFaults [][]InjectedFault `json:"step_faults,omitempty"`
	// Seed and Limit are those of crash.Options: a moment with more than Limit crash states is
	// sampled.
	Seed         uint64        `json:"seed"`
	Limit        int           `json:"limit"`
	Crash        *CrashError   `json:"crash,omitempty"` // nil: the machine did not crash
	ProcessCrash *ProcessCrash `json:"soft,omitempty"`  // nil: no process crashed
	// ReplayFlags is Config.ReplayFlags.
	ReplayFlags []string `json:"replay_flags,omitempty"`
	// Unscheduled names threads that ran although they were held. Such an error may not replay.
	Unscheduled []string `json:"strayed,omitempty"`
	// Shown says in how many of Replays replays the failure showed, right after it was found.
	Shown   int     `json:"shown"`
	Replays int     `json:"replays"`
	Seconds float64 `json:"seconds"` // duration of the run until it found the failure
	// Cause distinguishes the errors of one kind and one property: see failureContext.cause.
	Cause string `json:"cause"`
	// Symptoms are those of failures with this cause: failureContext.symptoms.
	Symptoms []string `json:"symptoms"`
	Count    uint64   `json:"count"` // how many failures of this kind and property were found
}

// Replayed says how often the failure showed: "shown in 2 of 3 replays".
func (e *Error) Replayed() string {
	switch e.Replays {
	case 0:
		return "not replayed, because the run ended"
	case 1:
		return fmt.Sprintf("shown in %d of 1 replay", e.Shown)
	}
	return fmt.Sprintf("shown in %d of %d replays", e.Shown, e.Replays)
}

// A CrashError identifies the crash that led to an error.
type CrashError struct {
	Window   int      `json:"window"`   // number of the window in the last step, from 0
	Epoch    string   `json:"epoch"`    // Crash.Epoch
	Contents string   `json:"contents"` // signature of the contents of the disks
	After    uint64   `json:"after"`    // number of the last log record before the crash
	Missing  []uint64 `json:"missing"`  // bios of submitted writes that did not reach the disk
	// Torn lists those of which a part reached the disk.
	Torn []TornBio `json:"torn,omitempty"`
	// Perspective names the simplest restriction of crashes that shows the error; "": none does.
	Perspective string `json:"perspective,omitempty"`
	// Early lists the blocks that reached the disk although they had not been submitted.
	Early []EarlyBlock `json:"early,omitempty"`
	// Choices are those of the recovery and the check; after a second crash, those of its recovery.
	Choices []Choice `json:"choices,omitempty"`
	// Complaint is a line about a failure, printed by a command of the recovery or the check that
	// reported success.
	Complaint string `json:"complaint,omitempty"`
	// Second is a crash during the recovery; nil: there was none.
	Second *SecondCrash `json:"second,omitempty"`
}

// A TornBio is a write of which only some sectors reached the disk.
type TornBio struct {
	Bio     uint64     `json:"bio"`
	Sectors uint64     `json:"sectors"` // of the write
	Done    [][2]int64 `json:"done"`    // the first and the last sector of each part, from 0
}

// A SecondCrash is a crash during the recovery from an earlier crash.
type SecondCrash struct {
	Contents string   `json:"contents"` // as CrashError.Contents
	Missing  []uint64 `json:"missing"`  // bios of the recovery's writes that did not reach the disk
	// Torn lists those of which a part reached the disk.
	Torn []TornBio `json:"torn,omitempty"`
}

// A crashDisk is a copy of a crash state that showed a failure.
type crashDisk struct {
	CrashError
	disks   []memory
	kernel  []string // the kernel's log of its recovery and its check
	printed []string // what the commands of both printed
}

// ReadError reads the Error in an error's folder.
func ReadError(dir string) (e Error, err error) {
	b, err := os.ReadFile(filepath.Join(dir, errorName))
	if err == nil {
		err = json.Unmarshal(b, &e)
	}
	if err != nil {
		return e, fmt.Errorf("%s is not the folder of an error: %w", dir, err)
	}
	return e, nil
}
