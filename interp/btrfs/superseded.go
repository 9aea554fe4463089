package btrfs

import (
	"fsward/interp"
	"fsward/interp/btrfs/ondisk"
)

// A supersededState is what was followed until a superblock was written that no mount goes by
// (devices.decides), as long as no other came: a further copy of a commit, or a log commit on a
// disk that does not decide. After a loss of power at that moment, the superblock counts as never
// written: docs/decisions/0003.
type supersededState struct {
	base *state
	sb   ondisk.Superblock // of base, which log commits change
	log  *logState
}

// supersede notes that a superblock has landed, and what was followed before it.
func (f *trackedState) supersede(was *supersededState, disk interp.Disk, now superblockCopy) {
	switch {
	case was.base.devs.decides(disk, now.at, now.sb):
		f.superseded = nil
	case f.superseded == nil && (f.base != was.base || f.base.sb.Bytes() != was.sb.Bytes()):
		f.superseded = was
	}
}

// takeBack goes back to the state that a mount still goes by if a write holds metadata. The kernel
// waits for all copies of a superblock before it goes on: power was cut before, and the next
// transaction has begun with that state.
func (f *FS) restoreSuperseded(w *interp.Write) {
	s := f.superseded
	if s == nil || superAlone(*w) || !f.base.chunks.holdsMetadata(w.Off, w.Len) {
		return
	}
	f.forecasts.Drop()
	f.trackedState = trackedState{base: s.base, log: s.log}
	f.base.sb = s.sb
}
