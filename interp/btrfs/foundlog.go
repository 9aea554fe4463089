package btrfs

import (
	"fmt"

	"fsward/interp"
)

// findLog reads the log that the disk holds when FS attaches to it. A crash or a running guest left
// it there. A log that is not sound cannot be a base: the next log commit is then read as a whole.
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

// Found returns the observation of the log that the disk held when FS attached to it.
func (f *FS) Found() interp.Observation { return f.found }

var _ interp.Finder = (*FS)(nil)
