package btrfs

import (
	"fsward/change"
	"fsward/interp"
	"fsward/interp/btrfs/ondisk"
)

// A judgment is the verdict on the structure of a commit, for the further copies of its
// superblock.
type judgment struct {
	identity   [ondisk.SuperSize]byte
	chunks     *chunkMap // where metadata lies
	generation uint64
	violations []change.Violation
	unknown    error
	settled    bool // it is known whether it was let through
	written    bool // it was let through
	stale      bool // metadata was written since
}

// judgeCommit judges a superblock of a new generation. If the commit was forecast, it takes what
// the forecast found.
func (s *superblockWrite) judgeCommit() {
	s.obs.Point = interp.CommitPoint
	if fc := s.forecasts.matching(s.old, s.sb, &s.comparer.unflushed); fc != nil {
		s.obs.Txn, s.obs.View = fc.diff.out.txn, fc.view
		s.conclude(fc.settled(s.comparer.disk, s.sb))
		return
	}
	now, d, err := s.compareBase(s.old)
	if source, target := s.old.replacement(); target != nil && (err != nil || d.failed()) {
		// The commit may be the one with which a replacement ends: what it wrote is then on the
		// target alone, whose own superblock may come later.
		if moved, moveErr := s.old.replaced(source.start, target.start); moveErr == nil {
			if now2, d2, err2 := s.compareBase(moved); err2 == nil && !d2.failed() {
				now, d, err = now2, d2, nil
			}
		}
	}
	switch {
	case err != nil:
		refuse(err, s.obs)
	case d.failed():
		s.obs.Violations = d.faults
		if d.unknown != nil {
			s.obs.Unknown = describe(s.sb.Generation(), d.unknown)
		}
	default:
		s.obs.Txn, s.obs.View = d.out.txn, newView(now, s.comparer.names)
	}
	s.conclude(now)
}

// conclude notes the judgment of a commit, and what the base is once the commit has landed. now is
// the state of the commit, nil if there is none.
func (s *superblockWrite) conclude(now *state) {
	if s.obs.Txn != nil {
		if err := now.complete(); err != nil && s.old.complete() == nil {
			s.obs.Note = err.Error()
		}
	}
	j := &judgment{identity: identityOf(s.sb), chunks: s.old.chunks, generation: s.sb.Generation(),
		violations: s.obs.Violations, unknown: s.obs.Unknown}
	if now != nil {
		j.chunks = now.chunks
	}
	s.judged = j
	next := &s.pending.next
	next.commit, next.newLog = j, true // a commit ends the log
	if now == nil || s.obs.Txn == nil {
		next.base, next.unjudged = s.old, true
	} else {
		next.base = now
	}
}

// compareBase compares the state of the superblock with a base, or reads it as a whole if there is
// nothing to compare with: the base is not sound.
func (s *superblockWrite) compareBase(base *state) (*state, *diff, error) {
	against := base
	if base.unsound {
		against = nil
	}
	return s.comparer.compare(against, s.sb, s.at, base.devs, base.cache)
}
