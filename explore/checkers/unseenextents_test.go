package checkers

import (
	"golang.org/x/sys/unix"

	"fsward/explore/model"
)

// extentBugs are those of the list of extents, which no other operation shows.
var extentBugs = []unseenBug{
	{bug: "FIEMAP lists a written block as not written", checker: "sync", only: "fiemap"},
	{bug: "FIEMAP leaves out what follows a hole", checker: "sync", only: "fiemap"},
	{bug: "FIEMAP lists the extents before a shift", checker: "sync", only: "fiemap"},
}

// noteRange notes what an operation does with the space of a file.
func (f *fake) noteRange(o model.Op) {
	if f.unseen.ranges == nil {
		f.unseen.ranges = make(map[string]int)
	}
	p := f.path(o.Slot)
	switch size, _ := f.fs.Size(p); {
	case o.Code == model.Fallocate:
		f.unseen.ranges[p] = o.Flags + 1
	case o.Code == model.Write && o.Off > size:
		f.unseen.ranges[p] = afterHole
	}
}

// afterHole stands for a write behind the end in unseenState.ranges.
const afterHole = -1

// wrongExtents returns what Fiemap does with the bug: one more than an offset, or 0.
func (f *fake) wrongExtents(o model.Op) uint64 {
	mode, allocated := f.unseen.ranges[o.Path]
	shifted := (mode-1)&(unix.FALLOC_FL_COLLAPSE_RANGE|unix.FALLOC_FL_INSERT_RANGE) != 0
	switch {
	case f.bug == "FIEMAP lists a written block as not written" && allocated && mode == 1,
		f.bug == "FIEMAP leaves out what follows a hole" && mode == afterHole,
		f.bug == "FIEMAP lists the extents before a shift" && allocated && shifted:
		return 1
	}
	return 0
}
