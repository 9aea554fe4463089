// Package crash forms the states that a disk can be left in by a crash: from a log of what was written to it, every prefix
// and every subset of the writes in flight that flushes and FUA allow, with several versions of a block kept apart, and torn
// writes if asked for. What is durable is a layer over the base that all states share; a state costs what it adds to that.
//
// The log is a sequence of events, whatever it was recorded by: a write was issued, writes became durable, a mark was set.
// FromTrace, FromBios and FromWriteSet make it. States are formed where what is in flight is about to shrink, where a mark
// is set (if states before and after marks are told apart) and at the end: between these points what is in flight only
// grows, so that every state that can arise there can arise at the next of them too.
package crash

import "iter"

// Kind is what an event tells. The zero value is invalid.
type Kind uint8

const (
	Issued  Kind = 1 + iota // Write is on its way: from now on it may be on the disk, or not
	Settled                 // the writes with IDs, or All that were issued, are durable
	Marked                  // a mark was set: a call began or returned
	Failed                  // of the writes with IDs nothing beyond the first Done bytes will ever be on the disk
	// Dirtied: Write is what a block holds in memory, and the kernel may write it whenever it likes: from now on it may be on the disk,
	// or not, until something that was issued later is durable there. Only what is issued becomes durable; that this may be what was
	// dirtied, with the same contents, is seen.
	Dirtied
)

// A Write is a change of a range of the disk.
type Write struct {
	ID   uint64 // no other write of the log has it
	Off  uint64 // bytes
	Len  uint64 // bytes; with Off a multiple of SectorSize
	Data []byte // Len bytes, which stay as they are; nil: zeros
}

// An Event is one step of a log.
type Event struct {
	Kind   Kind
	At     uint64   // where it stands in what was recorded: number of the log's entry, or Seq of the record
	Write  Write    // of Issued
	All    bool     // of Settled: all writes that were issued
	IDs    []uint64 // of Settled and Failed
	Done   uint64   // of Failed
	Silent bool     // of Failed: whoever wrote was told that all was done
	Mark   string   // of Marked
}

// Events is a log. It ends with the first error.
type Events = iter.Seq2[Event, error]

// SectorSize is what a disk writes whole or not at all, bytes.
const SectorSize = 512
