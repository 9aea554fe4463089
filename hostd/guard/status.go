package guard

import (
	"fmt"
	"time"
)

// DiskStatus is the state of a disk as the control socket reports it.
type DiskStatus struct {
	Name    string `json:"name"`
	FS      string `json:"fs,omitempty"`
	Commits uint64 `json:"commits"`
	Refused uint64 `json:"refused"`
	// Baseline is how far the check of the baseline is; nil if there is none.
	Baseline *Progress `json:"baseline,omitempty"`

	Held  string     `json:"held,omitempty"` // describes the write that is held
	Since *time.Time `json:"held_since,omitempty"`
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
		out = append(out, s)
	}
	return out
}
