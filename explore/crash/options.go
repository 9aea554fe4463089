package crash

import "fmt"

// Options say which states are formed. The zero value forms the states of whole writes: all states
// of a point with at most DefaultLimit.
type Options struct {
	// Unit divides writes at multiples of Unit bytes. Each part can be on the disk without the
	// others, because layers below a file system merge its writes. With SectorSize any subset of the
	// sectors can be on the disk. With 0 writes are not divided.
	Unit uint64
	// Order says which units can be on the disk together. The default is AnyOrder.
	Order Order
	// Torn also forms states in which only the first sectors of a unit are on the disk.
	Torn bool
	// Limit bounds the states that are formed at a point. Where there are more, the states are
	// sampled in this order: each prefix of the units in flight; all units but one (of dirty blocks:
	// also without their later versions); one unit alone; states that Seed chooses. All prefixes are
	// formed, and at least half of Limit other states, because prefixes alone miss a disk that
	// reorders writes. Of divided writes, the prefixes are those of whole writes. 0: DefaultLimit.
	Limit int
	Seed  uint64 // of the random states
	// ByMark distinguishes states by the last mark before them, so that a call's promise can be
	// checked in each state that can arise after the call has returned.
	ByMark bool
	// Repeats also visits states that are equal to an earlier one.
	Repeats bool
	// MemoryBytes bounds the memory of the pages that the log changes and of the writes in flight.
	// 0: DefaultMemory.
	MemoryBytes uint64
}

// An Order says which sets of the units in flight can be on the disk.
type Order uint8

// The orders. Each is a part of AnyOrder.
const (
	AnyOrder  Order = iota // any set
	InOrder                // units up to one, in the order of issue; the last one can be torn
	OneBroken              // writes up to one, in the order of issue; of the last, any of its units
)

const (
	DefaultLimit  = 1 << 12 // states of a point
	DefaultMemory = 1 << 30 // bytes
	maxUnits      = 1 << 20 // in flight
	maxSeen       = 1 << 20 // signatures that are remembered
	maxVersions   = 1 << 14 // versions of pages that are remembered at one point
)

// Stats count what an Enumerator did.
type Stats struct {
	Points   int     // points at which states were formed
	Sampled  int     // points with more than Limit states
	Possible float64 // states that exist, equal ones counted each time; exact if small
	Formed   int     // states that were formed
	Repeated int     // formed states that were equal to an earlier one
}

// Exhaustive reports whether every state was formed.
func (s Stats) Exhaustive() bool { return s.Sampled == 0 }

// A LimitError reports that a log exceeds a bound.
type LimitError struct {
	What  string
	Limit uint64
}

func (e *LimitError) Error() string {
	return fmt.Sprintf("crash states: more than %d %s", e.Limit, e.What)
}
