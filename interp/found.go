package interp

// A Finder is an interpreter of a file system whose disk can hold changes that the next mount makes
// before it commits: the log of a Btrfs.
type Finder interface {
	// Found returns these changes, as the disk had them when the interpreter attached, as an
	// Observation at a LogPoint. It returns the zero Observation if there were none. The result is
	// valid until the next write is observed.
	Found() Observation
}
