package interp

import "errors"

// ErrApart means that a state cannot be compared with the one that is known: it is of another mount, or earlier.
var ErrApart = errors.New("the state cannot be compared with the one that is known")

// ForkPage is the unit in which a Fork is told apart from what is known, bytes.
const ForkPage = 4096

// A Fork is a disk as it could be, beside a known state of the same disk: after a crash, say. What is asked of it is all
// that an answer depends on, so that whoever notes it knows which other forks have the same. Several goroutines may ask.
type Fork interface {
	Disk
	// Same tells whether a range, in bytes, holds what it holds in the known state.
	Same(off, n uint64) bool
	// Differing returns the addresses of the pages of ForkPage bytes that hold something else than in the known state, in
	// order, of those that keep wants. What keep answers may depend on what was asked of the fork before.
	Differing(keep func(addr uint64) bool) []uint64
}

// A Known is a file system in a state that was judged sound. Other states of its disk are compared with it, at the cost of
// what differs. It is used by one goroutine at a time; what Compare returns is valid until it is called again.
type Known interface {
	// Compare finds what a fork changes, after the recovery that the next mount would make: the structure of all that
	// differs is checked. The Observation is that of a commit, or of a log commit, or of no point if nothing changed that
	// is metadata. ErrApart, or another error, means that the fork
	// cannot be compared: it is judged as a whole image instead.
	Compare(f Fork) (Observation, error)
	// Follow makes the fork that was compared last, and found sound, the known state. d has the same contents, and stays
	// as it is; differing are the addresses of the pages in which it differs from the state known before.
	Follow(d Disk, differing []uint64)
}
