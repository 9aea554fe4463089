package btrfs

import (
	"fsward/interp"
	"fsward/interp/btrfs/ondisk"
)

// An earlier is what was followed until a superblock was written by which no mount goes (devices.decides), as long as no other came: a
// further copy of a commit, or a log commit on a disk that does not decide. If power is cut then, it is as if that had never been written:
// docs/decisions/0003.
type earlier struct {
	base *state
	sb   ondisk.Superblock // of base, which log commits change
	log  *logState
}

// remember is told of a superblock that was written, and what was followed before it.
func (f *FS) remember(was earlier, at uint64, sb ondisk.Superblock) {
	switch {
	case was.base.devs.decides(f.disk, at, sb):
		f.earlier = nil
	case f.earlier == nil && (f.base != was.base || f.base.sb.Bytes() != was.sb.Bytes()):
		f.earlier = &was
	}
}

// takeBack goes back to what a mount still goes by if metadata is written: the kernel waits for all copies of a superblock before it goes on,
// so that power was cut before, and another transaction has begun with what that says.
func (f *FS) takeBack(w *interp.Write) {
	e := f.earlier
	if e == nil || superAlone(*w) || !f.base.chunks.holdsMetadata(w.Off, w.Len) {
		return
	}
	f.dropForecast()
	f.base, f.log, f.judged, f.earlier = e.base, e.log, nil, nil
	f.base.sb = e.sb
}
