package interp

// ImageOptions bound and follow the reading of a whole file system. The zero value reads as fast as it can.
type ImageOptions struct {
	// MaxRecords bounds the change records that are kept, and with them memory. Beyond it the structure is still
	// checked to its end, and Unknown says that there are no records for rules. 0: the file system's own bound.
	MaxRecords int
	// CacheBytes bounds the metadata blocks that are kept. 0: the file system's own bound.
	CacheBytes int
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
