package interp

// A Finder is an interpreter of a file system that can leave something on the disk that the next
// mount acts on before it commits: the log of a Btrfs.
type Finder interface {
	// Found returns what was there when the interpreter attached, as an Observation at a LogPoint.
	// It returns the zero Observation if there was nothing. The result is valid until the next
	// write is observed.
	Found() Observation
}
