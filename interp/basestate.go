package interp

import "errors"

// ErrApart means that a state cannot be compared with the base state: it belongs to another mount,
// or it is older.
var ErrApart = errors.New("the state cannot be compared with the base state")

// CrashPage is the unit in which a CrashImage is compared with the base state, in bytes.
const CrashPage = 4096

// A CrashImage is a disk as a crash could leave it, beside the base state of the same disk. An
// answer depends only on the questions that were asked of the CrashImage: whoever notes them knows
// which other images get the same answer. Several goroutines may ask.
type CrashImage interface {
	Disk
	// Same reports whether the n bytes at off are those of the base state.
	Same(off, n uint64) bool
	// Differing returns, in ascending order, the addresses of the pages of CrashPage bytes that
	// differ from the base state and that keep wants. The result of keep may depend on what was
	// asked of the image before.
	Differing(keep func(addr uint64) bool) []uint64
}

// A BaseState is a file system in a state that was judged sound. Other states of its disk are
// compared with it, at the cost of what differs. It is used by one goroutine at a time. What
// Compare returns is valid until the next call.
type BaseState interface {
	// Compare finds what a crash image changes, after the recovery that the next mount would make.
	// It checks the structure of everything that differs. The Observation is that of a commit, of a
	// log commit, or of no point if no metadata changed. ErrApart, or any other error, means that
	// the image cannot be compared: the caller judges it as a whole image instead.
	Compare(image CrashImage) (Observation, error)
	// Follow makes the image that was compared last, and found sound, the base state. d has the
	// same contents and stays as it is; differing holds the addresses of the pages in which d
	// differs from the former base state.
	Follow(d Disk, differing []uint64)
}
