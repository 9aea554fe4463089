// Package interp interprets the bytes that a guest writes to a file system. It finds the commit
// points and the objects that changed since the last one, and checks that the bytes are well
// formed. Rules decide whether the change is allowed.
//
// Start with Interpreter in interp.go. Each file system is a package below this one. interp/detect
// finds out which one a disk holds.
package interp

import (
	"context"
	"errors"
	"fmt"
	"io"

	"fsward/change"
)

// A Disk is read access to a device as it is now: with every write that was let through so far, and
// without the write under observation.
type Disk interface {
	io.ReaderAt
	Size() uint64 // bytes
}

// A Write is a change of the device's contents that a guest asks for, shown before it is done.
type Write struct {
	// Seq numbers the writes to one disk from 1, in the order in which the disk performs them. It is 0
	// for a write that is durable when it completes (FUA), and if the writes are not numbered.
	Seq  uint64
	Off  uint64 // bytes from the start of the device
	Len  uint64 // bytes; Off+Len is within the device
	Data []byte // new contents, Len bytes, valid only during Observe; nil: zeros
	// Discard means that the guest gives up the range. Its contents are undefined afterwards. Data is
	// nil.
	Discard bool
	// Trial means that the caller only asks how the write would be judged now: Settle(false) follows,
	// and the interpreter remembers nothing of the write.
	Trial bool
}

// Point is the role of a write in the file system's commits.
type Point uint8

const (
	NoPoint     Point = iota // an ordinary write
	CommitPoint              // the write with which the file system claims consistency
	LogPoint                 // a Btrfs log commit: the writes of an fsync are to survive a crash
)

// A Check is a property that Go checks, of a single write or before any rule runs.
type Check struct {
	Name   string // "btrfs/key-order"
	Doc    string // the property in one sentence
	Origin string // source of the property; "": the file system's own code assumes it
}

// An Observation is the result of observing a write.
type Observation struct {
	Point Point
	// Generation is the number of the commit: the superblock's generation (Btrfs), the jbd2
	// sequence number (ext3).
	Generation uint64
	// Txn holds the changes since the last commit, and View the state after them. Both are set
	// exactly at a CommitPoint whose structure is sound, so that rules can rely on it.
	Txn  *change.Txn
	View change.View
	// Stream takes the place of Txn if a whole image has too many records to keep.
	Stream change.Stream
	// Logs holds the changes in the logs of a Btrfs, at a LogPoint and in a whole image: one part
	// for each tree.
	Logs []Part
	// Violations concern the structure or this single write. Any write can have them.
	Violations []change.Violation
	// Unknown is the reason why the write cannot be judged ("cannot read the block at 4096: …"). The
	// verdict is then undecided. It is nil otherwise.
	Unknown error
	// Baseline means that commits after this write are compared with the state that it leaves. No rule
	// has judged that state.
	Baseline bool
	// Unmounted means, of a whole image, that no guest has the file system in use. A program that
	// writes the disk may be half-way.
	Unmounted bool
	// Volume is the number of the volume that the write goes to, if the interpreter follows several;
	// -1: it goes to none.
	Volume int
	// Remaps means that the write changes a table, and with it which volumes there are.
	Remaps bool
	// Repeats means that the write is a further copy of a superblock whose commit was refused.
	Repeats bool
	// Note is a line for the log, mostly "": a file system appeared, was unmounted, or lost its
	// superblock.
	Note string
}

// MarkWhole marks the transactions of the observation as additions of a whole file system: see
// change.Txn.Whole.
func (o *Observation) MarkWhole() {
	if o.Txn != nil {
		o.Txn.Whole = true
	}
	for _, p := range o.Logs {
		if p.Txn != nil {
			p.Txn.Whole = true
		}
	}
}

// A Part is a set of changes that is judged by itself, and the state after them. The changes are
// either a transaction or, if they did not fit into memory, a stream.
type Part struct {
	Txn    *change.Txn
	Stream change.Stream
	View   change.View
}

// An Interpreter follows one file system on one disk. It is used by one goroutine at a time. No
// bytes make it panic or take unbounded memory or time.
type Interpreter interface {
	// FS returns the name of the file system: "btrfs", "ext3", or "" while there is none.
	FS() string
	// Schema names the numbers in the records. It is nil while there is no file system.
	Schema() *change.Schema
	// Observe judges a write before it is done. It is called for every write, in the order in which
	// the device performs them.
	Observe(w Write) Observation
	// Settle ends the write last observed. If written is set, the write is on the device, and what
	// it committed is the new base state. Otherwise it was refused or failed, and the device is as
	// before.
	Settle(written bool)
	// Flushed notes that the writes to a disk up to the number seq are durable. disk counts from 0
	// if a file system has several disks.
	Flushed(disk int, seq uint64)
}

// A Lagger is an Interpreter of file systems on several disks. A program without barriers across
// disks can write the commit to one disk while blocks of the commit are still in the guest's memory
// that belong on another disk, which lags.
type Lagger interface {
	// Lagging returns the disks that lag if a write is a commit. Of an unsound commit, it is unknown
	// then whether it stays unsound.
	Lagging(w Write) []int
}

// An Accepter is an Interpreter that can go on from a commit that it could not judge.
type Accepter interface {
	// Accept makes the state on the disk the base of later comparisons, although the commit that was
	// settled last was not judged. Without it the next commit is judged as a whole image.
	Accept()
}

// A Forecaster is an Interpreter that can find the changes of a commit before its commit write
// comes: all blocks that the commit write refers to are on the disk by then, and the guest waits
// for a flush.
type Forecaster interface {
	// Forecast returns a forecast of the next commit, nil if no commit is to be expected. It is
	// called when the guest starts a flush, at a time when Observe could be called.
	Forecast() Forecast
}

// A Forecast is an expected commit. If the commit arrives as expected, Observe returns the Txn and
// the View of the forecast. The caller must call Prepare and then Judged: Observe and the next call
// of Forecast wait for them.
type Forecast interface {
	// Prepare finds the changes of the commit. It may run concurrently with Observe and Settle. ok is
	// false if it found a fault or was stopped. Observe then finds the changes itself.
	Prepare() (p Part, ok bool)
	// Needed returns a context that is canceled when the judgment of the forecast should end,
	// because another commit arrives.
	Needed() context.Context
	// Judged notes that the judgment has ended, and does not read the Txn and the View any more.
	Judged()
	// Stop makes Prepare and the reads through the View end soon, since their results are not needed.
	Stop()
}

// ErrNotFound means that a disk holds no file system that fsward knows.
var ErrNotFound = errors.New("no file system that fsward knows (btrfs, ext3)")

// An UnsupportedError names the feature of a file system that fsward cannot check. The file system
// has no fault.
type UnsupportedError struct {
	FS      string // "btrfs"
	Feature string // "RAID56 (incompat flag 0x80)"
}

func (e *UnsupportedError) Error() string {
	return fmt.Sprintf("%s: %s is not supported", e.FS, e.Feature)
}

// A MissingDiskError says that a device of a file system is missing.
type MissingDiskError struct {
	FS     string // "btrfs"
	Device string // description of what is missing
	// Degradable: if the device is lost, the file system may be able to do without it.
	Degradable bool
}

func (e *MissingDiskError) Error() string {
	text := fmt.Sprintf("%s: %s: all disks of a file system have to be given together"+
		" (--disk, repeated)", e.FS, e.Device)
	if e.Degradable {
		text += "; if a disk is lost, --degraded does without it"
	}
	return text
}

// A CorruptError says where and why a file system cannot be read as a baseline.
type CorruptError struct {
	FS     string
	Addr   uint64 // device address, bytes
	Reason string
}

func (e *CorruptError) Error() string {
	return fmt.Sprintf("%s: at device address %d: %s", e.FS, e.Addr, e.Reason)
}
