package guard

import (
	"fmt"
	"time"
)

// Progress is how far the check of a baseline has come.
type Progress struct {
	Phase   string  `json:"phase"`             // PhaseReading, PhaseJudging, PhaseDone, PhaseInterrupted
	Percent float64 `json:"percent"`           // about how much is done
	LeftNS  int64   `json:"left_ns,omitempty"` // about how much longer it takes, nanoseconds; 0: not known yet
	KeptB   uint64  `json:"kept_bytes"`        // of the old state, since the guest has written over it
	Verdict string  `json:"verdict,omitempty"`

	began, told time.Time
}

// NewProgress returns the progress of a check that began at a time.
func NewProgress(began time.Time) *Progress {
	return &Progress{Phase: PhaseReading, began: began, told: began}
}

// Phases of a pass.
const (
	PhaseReading     = "reading" // trees, inodes and their structure
	PhaseJudging     = "judging" // by the rules
	PhaseDone        = "done"
	PhaseInterrupted = "interrupted"
)

// readingShare is the part of the time that reading takes, about: measured, a quarter with Btrfs and half with ext3.
const readingShare = 0.4

// progressEvery is how often progress is told.
const progressEvery = 10 * time.Second

// Read notes how much was read, and reports whether that is to be told.
func (s *Progress) Read(done, total uint64) bool {
	return s.reach(PhaseReading, readPart(done, total), time.Now(), progressEvery)
}

// Judged notes how many change records were judged, and reports whether that is to be told.
func (s *Progress) Judged(done, total int) bool {
	return s.reach(PhaseJudging, judgedPart(done, total), time.Now(), progressEvery)
}

// readPart and judgedPart are which part of a check is done, where so much of its reading or judging is.
func readPart(done, total uint64) float64 {
	return readingShare * float64(min(done, total)) / float64(max(total, 1))
}

func judgedPart(done, total int) float64 {
	return readingShare + (1-readingShare)*float64(done)/float64(max(total, 1))
}

// reach notes how far a check is, and tells whether that is to be told.
func (s *Progress) reach(phase string, part float64, now time.Time, every time.Duration) (tell bool) {
	s.Phase, s.Percent = phase, 100*part
	if took := now.Sub(s.began); part > 0.01 {
		s.LeftNS = int64(float64(took) * (1 - part) / part)
	}
	if tell = now.Sub(s.told) >= every; tell {
		s.told = now
	}
	return tell
}

func leftText(ns int64) string {
	if ns == 0 {
		return "unknown time"
	}
	return time.Duration(ns).Round(time.Second).String()
}

// String is the status in few words: "reading 12 %, 1m20s left", "holds".
func (s *Progress) String() string {
	switch {
	case s == nil:
		return "-"
	case s.Phase == PhaseDone:
		return s.Verdict
	case s.Phase == PhaseInterrupted:
		return fmt.Sprintf("interrupted at %.0f %%", s.Percent)
	}
	return fmt.Sprintf("%s %.0f %%, %s left", s.Phase, s.Percent, leftText(s.LeftNS))
}
