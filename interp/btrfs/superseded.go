package btrfs

import (
	"fsward/interp"
	"fsward/interp/btrfs/ondisk"
)

// A supersededState is the previous tracked state, after a superblock has landed that no mount
// would use (devices.decides): a mirror of a commit, or a log commit on a disk that does not
// decide. It is kept until a superblock lands that a mount would use. If power fails before that,
// the superblock counts as never written: docs/decisions/0003.
type supersededState struct {
	base *state
	sb   ondisk.Superblock // of base at that time; a log commit replaces the superblock of a base
	log  *logState
}

// supersede notes that the superblock now has landed. was is the state before it.
func (f *trackedState) supersede(was *supersededState, disk interp.Disk, now superblockCopy) {
	switch {
	case was.base.devs.decides(disk, now.at, now.sb):
		f.superseded = nil
	case f.superseded == nil && (f.base != was.base || f.base.sb.Bytes() != was.sb.Bytes()):
		f.superseded = was
	}
}

// restoreSuperseded returns to the superseded state, which a mount still uses, if a write holds
// metadata. The kernel writes no metadata before all copies of a superblock have completed. So
// power has failed meanwhile, and the running transaction is based on the superseded state.
func (f *FS) restoreSuperseded(w *interp.Write) {
	s := f.superseded
	if s == nil || superAlone(*w) || !f.base.chunks.holdsMetadata(w.Off, w.Len) {
		return
	}
	f.forecasts.Drop()
	f.trackedState = trackedState{base: s.base, log: s.log}
	f.base.sb = s.sb
}
