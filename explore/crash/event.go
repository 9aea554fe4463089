// Package crash forms crash states: the contents that a crash can leave on a disk. From a log of
// writes it forms every prefix and every subset of the writes in flight that flushes and FUA allow,
// with each version of a block, and torn writes on request. Durable pages are a layer over the base
// that all states share, so that a state costs memory only for the pages that it adds.
//
// A log is a sequence of events: a write was issued, writes became durable, a mark was set.
// FromTrace, FromBios and FromWriteSet make one. States are formed just before the set of writes in
// flight shrinks, at marks (with Options.ByMark), and at the end. Between these points that set
// only grows, so that every state that can arise there can also arise at the next point.
//
// Start reading at Each and Options.
package crash

import "iter"

// Kind is the kind of an event. The zero value is invalid.
type Kind uint8

const (
	// Issued: Write was submitted. From now on it may be on the disk.
	Issued Kind = 1 + iota
	// Settled: the writes with IDs are durable or, with All, all that were issued.
	Settled
	// Marked: a mark was set, for example because a call began or returned.
	Marked
	// Failed: no byte of the writes with IDs beyond the first Done ones will ever reach the disk.
	Failed
	// Dirtied: a block in the kernel's memory holds Write, and the kernel may write it at any moment.
	// From now on it may be on the disk, until a write that was issued later to the same place is
	// durable. Only an issued write becomes durable; an issued write with the same contents as dirty
	// blocks counts as these blocks.
	Dirtied
)

// A Write is a change of a range of the disk.
type Write struct {
	ID   uint64 // unique in the log
	Off  uint64 // bytes, a multiple of SectorSize
	Len  uint64 // bytes, a multiple of SectorSize
	Data []byte // Len bytes, which must not change; nil: zeros
}

// An Event is one step of a log.
type Event struct {
	Kind   Kind
	At     uint64   // position in the recorded log: the number of the entry, or Seq of the record
	Write  Write    // of Issued and Dirtied
	All    bool     // of Settled: all writes that were issued
	IDs    []uint64 // of Settled and Failed
	Done   uint64   // of Failed: bytes
	Silent bool     // of Failed: the disk reported success
	Mark   string   // of Marked
}

// Events is a log. It ends with the first error.
type Events = iter.Seq2[Event, error]

// SectorSize is the unit in bytes that a disk writes atomically.
const SectorSize = 512
