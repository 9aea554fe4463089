package explore

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
)

// errorName is the file of an Error in its folder.
const errorName = "error.json"

// An Error is one that was found, with all that finds it again.
type Error struct {
	Kind string `json:"kind"`
	// Property is that of Failure.
	Property     string          `json:"property,omitempty"`
	Summary      string          `json:"summary"` // what was expected and what is there
	Dir          string          `json:"dir"`     // its folder, in that of the run
	Origin       json.RawMessage `json:"origin,omitempty"`
	Steps        [][]Choice      `json:"steps"`
	Did          [][]string      `json:"did"`            // what each step did, for people
	Fail         []InjectedFault `json:"fail,omitempty"` // calls inside the kernel that failed in the last step
	Seed         uint64          `json:"seed"`           // of the crash states that are formed where there are too many
	Limit        int             `json:"limit"`
	Crash        *CrashError     `json:"crash,omitempty"`   // nil: it was found without a crash
	ProcessCrash *ProcessCrash   `json:"soft,omitempty"`    // nil: it was none of a program alone
	Unscheduled  []string        `json:"strayed,omitempty"` // threads that ran though they were held: it may not replay
	Seconds      float64         `json:"seconds"`           // of the run, until it was found; after that it was made smaller
	Count        uint64          `json:"count"`             // how often errors of this kind were found, this one and those like it
}

// A CrashError says which crash it was.
type CrashError struct {
	Window   int      `json:"window"` // of the last step, from 0
	Epoch    string   `json:"epoch"`
	Contents string   `json:"contents"` // signature of what the disks held
	After    uint64   `json:"after"`    // number of the record of the log after which it was
	Missing  []uint64 `json:"missing"`  // writes, by their bios, that had been submitted and did not reach the disk
	// Early are the blocks that had not been submitted and did reach the disk.
	Early []EarlyBlock `json:"early,omitempty"`
	// Second is a crash in the middle of the recovery; nil: there was none.
	Second *SecondCrash `json:"second,omitempty"`
}

// A SecondCrash is one while the disk that a crash left was recovered.
type SecondCrash struct {
	Contents string   `json:"contents"` // as CrashError.Contents
	Missing  []uint64 `json:"missing"`  // writes of the recovery
}

// A crashDisk is a crash disk that is kept.
type crashDisk struct {
	CrashError
	disks  []memory
	kernel []string // what the kernel said when it was recovered and checked
}

// ReadError reads an error's folder.
func ReadError(dir string) (e Error, err error) {
	b, err := os.ReadFile(filepath.Join(dir, errorName))
	if err == nil {
		err = json.Unmarshal(b, &e)
	}
	if err != nil {
		return e, fmt.Errorf("%s is not the folder of an error that was found: %w", dir, err)
	}
	return e, nil
}
