package guard

import (
	"fmt"
	"time"
)

// Progress says how far the check of an image or a baseline, or the judgment of a commit, has come.
type Progress struct {
	What string `json:"what,omitempty"` // "commit"; "": an image or a baseline
	// PhaseReading, PhaseJudging, PhaseDone, PhaseInterrupted
	Phase   string  `json:"phase"`
	Percent float64 `json:"percent"` // estimated part that is done
	// estimated time that is left, nanoseconds; 0: not known yet
	LeftNS int64 `json:"left_ns,omitempty"`
	// of the old state, kept because the guest has overwritten it
	KeptB   uint64 `json:"kept_bytes"`
	Verdict string `json:"verdict,omitempty"`
	// of a commit: metadata blocks read, records judged, and all records
	Blocks  int64 `json:"blocks,omitempty"`
	Done    int64 `json:"done_records,omitempty"`
	Records int64 `json:"records,omitempty"`

	began, reported time.Time
	volume          *guardedVolume // of the commit
}

// NewProgress returns the progress of a check that began at a time.
func NewProgress(began time.Time) *Progress {
	return &Progress{Phase: PhaseReading, began: began, reported: began}
}

// Phases of a check.
const (
	PhaseReading     = "reading" // reads trees and inodes and checks their structure
	PhaseJudging     = "judging" // runs the rules
	PhaseDone        = "done"
	PhaseInterrupted = "interrupted"
)

// readingShare is the estimated part of the time that reading takes. Measured: a quarter with
// Btrfs, half with ext3.
const readingShare = 0.4

// progressEvery is the time between two reports of progress.
const progressEvery = 10 * time.Second

// Read notes how much has been read, and reports whether a report is due.
func (s *Progress) Read(done, total uint64) bool {
	return s.reach(PhaseReading, readPart(done, total), time.Now(), progressEvery)
}

// Judged notes how many change records have been checked, and reports whether a report is due.
func (s *Progress) Judged(done, total int) bool {
	return s.reach(PhaseJudging, judgedPart(done, total), time.Now(), progressEvery)
}

// readPart and judgedPart return the part of a check that is done, given how much is read or
// checked.
func readPart(done, total uint64) float64 {
	return readingShare * float64(min(done, total)) / float64(max(total, 1))
}

func judgedPart(done, total int) float64 {
	return readingShare + (1-readingShare)*float64(done)/float64(max(total, 1))
}

// reach notes how far a check is, and reports whether a report is due.
func (s *Progress) reach(phase string, part float64, now time.Time,
	every time.Duration) (tell bool) {
	s.Phase, s.Percent = phase, 100*part
	if took := now.Sub(s.began); part > 0.01 {
		s.LeftNS = int64(float64(took) * (1 - part) / part)
	}
	if tell = now.Sub(s.reported) >= every; tell {
		s.reported = now
	}
	return tell
}

func leftText(ns int64) string {
	if ns == 0 {
		return "unknown time"
	}
	return time.Duration(ns).Round(time.Second).String()
}

// String returns the status in a few words: "reading 12 %, 1m20s left", "holds".
func (s *Progress) String() string {
	switch {
	case s == nil:
		return "-"
	case s.Phase == PhaseDone:
		return s.Verdict
	case s.Phase == PhaseInterrupted:
		return fmt.Sprintf("interrupted at %.0f %%", s.Percent)
	}
	text := fmt.Sprintf("%s %.0f %%, %s left", s.Phase, s.Percent, leftText(s.LeftNS))
	if s.What != "" {
		text += " (" + s.amount() + ")"
	}
	return text
}
