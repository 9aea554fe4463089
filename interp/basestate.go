package interp

import "errors"

// ErrApart means that a state cannot be compared with the base state: it belongs to another mount,
// or it is older.
var ErrApart = errors.New("the state cannot be compared with the base state")

// CrashPage is the unit in which a CrashImage is compared with the base state, in bytes.
const CrashPage = 4096

// A CrashImage is a possible content of a disk after a crash, described beside the base state of
// the same disk. The verdict about an image depends only on the results of its methods. An
// implementation that records the calls can recognize other images with the same verdict. The
// methods are safe for concurrent use.
type CrashImage interface {
	Disk
	// Same reports whether the n bytes at off are those of the base state.
	Same(off, n uint64) bool
	// Differing returns, in ascending order, the addresses of the pages of CrashPage bytes that differ
	// from the base state and that keep wants. The result of keep may depend on earlier calls for the
	// image.
	Differing(keep func(addr uint64) bool) []uint64
}

// A BaseState is a file system in a known sound state. Compare compares other states of its disk
// with it. The cost depends on the differences alone. One goroutine at a time may use it. The
// result of Compare is valid until the next call.
type BaseState interface {
	// Compare finds what a crash image changes, after the recovery that the next mount would make.
	// It checks the structure of everything that differs. The Observation is that of a commit, of a
	// log commit, or of no point if no metadata changed. ErrApart, or any other error, means that
	// the image cannot be compared: the caller judges it as a whole image instead.
	Compare(image CrashImage) (Observation, error)
	// Follow makes the image that was compared last the base state. The image must be sound. d has the
	// same contents and does not change; differing holds the addresses of the pages in which d differs
	// from the former base state.
	Follow(d Disk, differing []uint64)
}
