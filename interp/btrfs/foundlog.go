package btrfs

import (
	"fmt"

	"fsward/interp"
)

// findLog reads the log that is there when a disk is attached: a crash has left it, or a guest that
// is running. One that is not sound is no base for the log commits that follow, which are then read
// as a whole.
func (f *FS) findLog() {
	if _, ok := logPointer(f.base.sb); !ok {
		return
	}
	f.found = interp.Observation{Point: interp.LogPoint, Generation: f.base.sb.Generation()}
	r := f.comparer.readLog(f.base, f.base.sb, nil)
	switch {
	case len(r.faults) > 0:
		f.found.Violations = r.faults
	case r.err != nil:
		f.found.Unknown = fmt.Errorf("the log of generation %d: %w", f.base.sb.Generation()+1, r.err)
	default:
		f.log, f.found.Logs = r.now, r.parts
	}
}

// Found returns what the log held that was there at the beginning.
func (f *FS) Found() interp.Observation { return f.found }

var _ interp.Finder = (*FS)(nil)
