package interp

import "errors"

// ErrNoState means that a file system is in use that has no transactions: between two writes nothing holds.
var ErrNoState = errors.New("it is in use and has no journal, so that there is no state to check")

// ImageOptions bound and follow the reading of a whole file system. The zero value reads as fast as it can.
type ImageOptions struct {
	// Budget bounds the change records that are kept. Beyond it there is no Txn: Stream has the records part by part. nil: the
	// file system's own bound, beyond which Unknown says so.
	Budget *MemoryBudget
	// Stream asks for a Stream in any case, where there can be one.
	Stream bool
	// CacheBytes bounds the metadata blocks that are kept. 0: the file system's own bound.
	CacheBytes int
	// InUse: a guest may be using the file system. Where it is in no state that it claims to be consistent, the error
	// is ErrNoState.
	InUse bool
	// SkipLog leaves out the log of a Btrfs.
	SkipLog bool
	// Progress, if not nil, is told what is done of about how much: metadata blocks of Btrfs, inodes of ext3. total
	// is 0 while it is not known.
	Progress func(done, total uint64)
}

// A Baseline is implemented by interpreters that know which part of a disk the present state is read from.
type Baseline interface {
	// Needs returns what tells of a range of a disk whether Image may read it of the state that is committed now.
	// It may be called from then on, beside the interpreter.
	Needs() func(off, n uint64) bool
}
