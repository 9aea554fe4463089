package blocktap

// An Extent is a run of bytes of a disk that is either data or a hole.
type Extent struct {
	Len  uint64 // bytes
	Hole bool   // no space is allocated, and reads return zeros
}

// An Extenter is a Disk that can report its holes.
type Extenter interface {
	// Extents describes a range of at most n bytes from off as consecutive runs. It returns at least
	// one run unless n is 0, and at most MaxExtents, so that the last run may end before off+n.
	Extents(off, n uint64) ([]Extent, error)
}

// MaxExtents is the largest number of runs that one call of Extents returns.
const MaxExtents = 1024

// A Reserver is a Disk whose Zero may deallocate space. ZeroReserved zeros a range and keeps its
// space allocated.
type Reserver interface {
	ZeroReserved(off, n uint64) error
}
