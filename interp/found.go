package interp

// A Finder is implemented by interpreters whose file systems leave something on the disk that the next mount acts on
// before it commits: the log of a Btrfs.
type Finder interface {
	// Found returns what was there when the interpreter attached, as an Observation at a LogPoint; the zero one if
	// nothing was. What it holds is valid until the next write is observed.
	Found() Observation
}
