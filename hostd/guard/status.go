package guard

import (
	"fmt"
	"time"
)

// VolumeStatus is the state of a volume as the control socket reports it.
type VolumeStatus struct {
	Guest string `json:"guest,omitempty"` // if the daemon has several
	Disk  string `json:"disk"`
	// Volume is "" for a whole disk, "p2" for a partition, "vg/lv" for a logical volume.
	Volume  string `json:"volume,omitempty"`
	FS      string `json:"fs,omitempty"`
	Commits uint64 `json:"commits"`
	Refused uint64 `json:"refused"`
	// State is "guarded", "degraded: …", "blank", "baseline pending", "baseline failed",
	// "unguarded: …" or "unverified since …".
	State string `json:"state"`
	// Passed counts the writes that passed while the volume was not guarded.
	Passed uint64 `json:"passed,omitempty"`
	// Unverified: an undecided commit is on the volume, and no check has found it sound since.
	Unverified *UnverifiedStatus `json:"unverified,omitempty"`
	// Judging is the progress of the judgment of a commit; nil if none takes long.
	Judging *Progress `json:"judging,omitempty"`
	// Baseline is the progress of the check of the baseline; nil if there is none.
	Baseline *Progress `json:"baseline,omitempty"`

	// Late is the commit that waits for a disk that lags; nil if none does.
	Late *LateStatus `json:"late,omitempty"`

	Held  string     `json:"held,omitempty"` // describes the write that is held
	Since *time.Time `json:"held_since,omitempty"`
}

// LateStatus describes a commit that waits for disks that lag.
type LateStatus struct {
	Generation uint64    `json:"generation"`
	For        string    `json:"for"` // "disk a"
	Since      time.Time `json:"since"`
	Until      time.Time `json:"until"` // it is refused then
}

// String describes the commit in a few words.
func (s *LateStatus) String() string {
	return fmt.Sprintf("commit %d waits for %s: %v so far, %v left", s.Generation, s.For,
		time.Since(s.Since).Round(time.Second), time.Until(s.Until).Round(time.Second))
}

// UnverifiedStatus describes an unverified volume.
type UnverifiedStatus struct {
	Since   uint64 `json:"since_generation"` // the first undecided commit
	Commits uint64 `json:"commits"`          // undecided commits since then
}

// Name returns the name of the volume with its guest and disk.
func (s *VolumeStatus) Name() string {
	name := volumeName(s.Disk, s.Volume)
	switch {
	case s.Guest == "":
		return name
	case name == "":
		return s.Guest
	}
	return s.Guest + "/" + name
}

// Status returns the state of every volume, in the order of the disks.
func (d *Disks) Status() []VolumeStatus {
	var out []VolumeStatus
	judged := d.judging.progress()
	for _, g := range d.disks {
		volumes := d.volumes.all()
		first := true
		for _, v := range volumes {
			if v.guard != g.guard {
				continue
			}
			s := v.status()
			if judged != nil && judged.volume == v && time.Since(judged.began) >= longJudgment {
				s.Judging = judged
			}
			if c := g.guard.late.now.Load(); c != nil && c.volume == v {
				s.Late = &LateStatus{c.generation, c.names(), c.since, c.until}
			}
			if first && g.holder != nil {
				if ev, since := g.holder.Held(); ev != nil {
					s.Held, s.Since = fmt.Sprintf("%s %s: %s", ev.FS, CommitText(ev), VerdictText(ev)), &since
				}
			}
			first = false
			out = append(out, s)
		}
	}
	return out
}

// status returns the state of the volume.
func (v *guardedVolume) status() VolumeStatus {
	state := v.state.Load()
	s := VolumeStatus{Disk: v.guard.name, Volume: state.Path, FS: state.FS, State: v.text(),
		Commits: v.counts.commits.Load(), Refused: v.counts.refused.Load(), Passed: v.passed.Load()}
	if p := v.baseline.Load(); p != nil {
		status := p.Status()
		s.Baseline = &status
	}
	if u := v.unverified.Load(); u != nil {
		s.Unverified = &UnverifiedStatus{u.since, u.commits}
	}
	return s
}
