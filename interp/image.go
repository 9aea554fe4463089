package interp

import "errors"

// ErrNoState means that a file system without transactions is in use: between two writes no
// invariant holds.
var ErrNoState = errors.New("it is in use and has no journal, so that there is no state to check")

// ImageOptions bound the reading of a whole file system and report its progress. The zero value
// reads as fast as possible.
type ImageOptions struct {
	// Budget bounds the change records that are kept. If they are too many, there is no Txn, and
	// Stream has the records part by part. With a nil Budget the file system's own bound applies. If
	// there are more records, Unknown is set.
	Budget *MemoryBudget
	// Stream asks for a Stream in any case, if the file system can make one.
	Stream bool
	// CacheBytes bounds the metadata blocks that are kept, bytes. 0 means the file system's own
	// bound.
	CacheBytes int
	// InUse says that a guest may be using the file system. The error is ErrNoState if the file
	// system does not claim to be consistent then.
	InUse bool
	// CompareSnapshots has the snapshots of a Btrfs compared with the trees that they were made from.
	// Their records say how they differ, with old values: see docs/decisions/0075.
	CompareSnapshots bool
	// Degraded says that devices of a Btrfs may be lost: what Linux mounts with the option degraded is
	// no error.
	Degraded bool
	// SkipLog leaves out the log of a Btrfs.
	SkipLog bool
	// Progress, if not nil, is called with the number of metadata blocks (Btrfs) or inodes (ext3) that
	// are done, and with an estimate of their total. total is 0 while it is unknown.
	Progress func(done, total uint64)
}

// A Baseline is an interpreter that knows which part of a disk holds the present state.
type Baseline interface {
	// Needs returns a function that reports whether Image may read a range of the disk for the
	// state that is committed now. That function may be called from then on, concurrently with the
	// interpreter.
	Needs() func(off, n uint64) bool
}
