package guard

import (
	"fmt"
	"time"

	"fsward/change"
)

// DiskStatus is the state of a disk as the control socket reports it.
type DiskStatus struct {
	Name    string `json:"name"`
	FS      string `json:"fs,omitempty"`
	Commits uint64 `json:"commits"`
	Refused uint64 `json:"refused"`
	// Volume is "guarded", "blank", "baseline pending", "baseline failed", or "unverified since …".
	Volume string `json:"volume"`
	// Unverified: an undecided commit is on the volume, and no check has found it sound since.
	Unverified *UnverifiedStatus `json:"unverified,omitempty"`
	// Judging is how far the judgment of a commit is; nil if none takes long.
	Judging *Progress `json:"judging,omitempty"`
	// Baseline is how far the check of the baseline is; nil if there is none.
	Baseline *Progress `json:"baseline,omitempty"`

	Held  string     `json:"held,omitempty"` // describes the write that is held
	Since *time.Time `json:"held_since,omitempty"`
}

// UnverifiedStatus says since when a volume is unverified.
type UnverifiedStatus struct {
	Since   uint64 `json:"since_generation"` // the first undecided commit
	Commits uint64 `json:"commits"`          // undecided commits since then
}

// volumeText returns the state of the volume of a disk in words.
func (s *DiskStatus) volumeText(u *unverified) string {
	switch {
	case u != nil:
		return u.String()
	case s.FS == "":
		return "blank"
	case s.Baseline == nil || s.Baseline.Phase == PhaseInterrupted:
		return "guarded"
	case s.Baseline.Phase != PhaseDone:
		return "baseline pending"
	case s.Baseline.Verdict != change.Holds.String():
		return "baseline failed"
	}
	return "guarded"
}

// Status returns the state of every disk.
func (d *Disks) Status() []DiskStatus {
	var out []DiskStatus
	for _, g := range d.disks {
		s := DiskStatus{Name: g.name, Commits: g.counts.commits.Load(), Refused: g.counts.refused.Load()}
		s.FS = g.counts.name()
		if p := g.baseline.Load(); p != nil {
			status := p.Status()
			s.Baseline = &status
		}
		if g.holder != nil {
			if ev, since := g.holder.Held(); ev != nil {
				s.Held, s.Since = fmt.Sprintf("%s %s: %s", ev.FS, CommitText(ev), VerdictText(ev)), &since
			}
		}
		u := g.guard.volume.Load()
		if s.Volume = s.volumeText(u); u != nil {
			s.Unverified = &UnverifiedStatus{u.since, u.commits}
		}
		p := d.judging.progress()
		if p != nil && p.disk == g.name && time.Since(p.began) >= longJudgment {
			s.Judging = p
		}
		out = append(out, s)
	}
	return out
}
