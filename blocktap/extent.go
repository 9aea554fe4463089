package blocktap

// Extent is a run of bytes of a disk of which it is known whether it holds data.
type Extent struct {
	Len  uint64 // bytes
	Hole bool   // nothing is allocated, and it reads as zeros
}

// Extenter is a Disk that knows which of its parts are holes.
type Extenter interface {
	// Extents describes the range from off on, n bytes at most, as runs that follow each other. There
	// is at least one unless n is 0, and at most MaxExtents: they may end before off+n.
	Extents(off, n uint64) ([]Extent, error)
}

// MaxExtents bounds the answer of one call of Extents.
const MaxExtents = 1024

// Reserver is a Disk whose Zero may give space back, and which can also zero a range without that.
type Reserver interface {
	ZeroReserved(off, n uint64) error
}
