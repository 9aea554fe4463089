package btrfs

import (
	"fsward/change"
	"fsward/interp"
	"fsward/interp/btrfs/ondisk"
)

// A judgment is the verdict on the structure of a commit. Further copies of its superblock get the
// same verdict.
type judgment struct {
	identity   [ondisk.SuperSize]byte
	chunks     *chunkMap // of the commit
	generation uint64
	violations []change.Violation
	unknown    error
	settled    bool // the first copy has landed or was refused
	written    bool // the first copy has landed
	stale      bool // metadata was written since
}

// judgeCommit judges a superblock of a new generation. If a forecast of the commit came true, it
// takes the difference, or the fault, from the forecast.
func (s *superblockWrite) judgeCommit() {
	s.obs.Point = interp.CommitPoint
	if fc := s.foreseen(); fc != nil {
		if fc.refused {
			s.refuseDiff(fc.diff)
		} else {
			s.obs.Txn, s.obs.View = fc.diff.out.txn, fc.view
		}
		s.conclude(fc.settled(s.comparer.disk, s.sb))
		return
	}
	now, d, err := s.compareBase(s.old)
	if source, target := s.old.replacement(); target != nil && (err != nil || d.failed()) {
		// The commit may end a device replacement. Its blocks are then on the target alone, and the
		// superblock of the target may come later.
		if moved, moveErr := s.old.replaced(source, target); moveErr == nil {
			if now2, d2, err2 := s.compareBase(moved); err2 == nil && !d2.failed() {
				now, d, err = now2, d2, nil
			}
		}
	}
	switch {
	case err != nil:
		refuse(err, s.obs)
	case d.failed():
		s.refuseDiff(d)
	default:
		d.deliver(newView(now, s.comparer.names, d.out.txn.Work), s.obs)
	}
	s.conclude(now)
}

// foreseen returns the forecast of the commit if it comes true; nil for a trial.
func (s *superblockWrite) foreseen() *forecast {
	if s.pending.write.Trial {
		return nil
	}
	return s.forecasts.matching(s.old, s.sb, &s.comparer.unflushed)
}

// refuseDiff puts why a comparison failed into the observation.
func (s *superblockWrite) refuseDiff(d *diff) {
	s.obs.Violations = d.faults
	if d.unknown != nil {
		s.obs.Unknown = describe(s.sb.Generation(), d.unknown)
	}
}

// conclude notes the judgment of a commit, and the base after the commit has landed. now is the
// state of the commit, or nil if it cannot be read.
func (s *superblockWrite) conclude(now *state) {
	if s.obs.View != nil {
		if err := now.complete(); err != nil && s.old.complete() == nil {
			s.obs.Note = err.Error()
		}
	}
	j := &judgment{identity: identityOf(s.sb), chunks: s.old.chunks, generation: s.sb.Generation(),
		violations: s.obs.Violations, unknown: s.obs.Unknown}
	if now != nil {
		j.chunks = now.chunks
	}
	if !s.pending.write.Trial {
		s.judged = j
	}
	next := &s.pending.next
	next.commit, next.newLog = j, true // a commit ends the log
	if now == nil || s.obs.View == nil {
		next.base, next.unjudged = s.old, true
	} else {
		next.base = now
	}
}

// compareBase compares the state of the superblock with a base. If the base is not sound, it reads
// the whole state instead.
func (s *superblockWrite) compareBase(base *state) (*state, *diff, error) {
	against := base
	if base.unsound {
		against = nil
	}
	return s.comparer.compare(against, s.sb, s.at, base.devs, base.cache)
}
