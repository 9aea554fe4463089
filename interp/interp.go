// Package interp turns the bytes that a guest writes into what they mean to its file system: which
// write is a commit point, which objects changed since the last one, and whether what was written is
// well formed. It answers "what is, what changed"; whether that is allowed is for the rules.
//
// Each file system is a package below this one. interp/detect tells which one a disk holds.
package interp

import (
	"errors"
	"fmt"
	"io"

	"fsward/change"
)

// Disk is read access to a device as it is now: with every write that was let through so far, and
// without the one that is being observed.
type Disk interface {
	io.ReaderAt
	Size() uint64 // bytes
}

// A Write is one change of the device's contents that a guest asks for, shown before it is done.
type Write struct {
	// Seq numbers the writes to one disk in the order in which it performs them, from 1. It is 0 for a
	// write that is durable as soon as it is acknowledged (FUA), and where nobody counts.
	Seq  uint64
	Off  uint64 // bytes from the start of the device
	Len  uint64 // bytes; Off+Len is within the device
	Data []byte // the new contents, Len bytes, valid only during Observe; nil: the range becomes zeros
	// Discard: the range was given up by the guest, what it holds afterwards is not defined. Data is nil.
	Discard bool
}

// Point is the kind of moment that a write is.
type Point uint8

const (
	NoPoint     Point = iota // an ordinary write
	CommitPoint              // the write with which the file system claims consistency
	LogPoint                 // a Btrfs log commit: what fsync wrote is to survive a crash
)

// A Check is a property that is checked in Go, before any rule runs or of a single write.
type Check struct {
	Name   string // "btrfs/key-order"
	Doc    string // the property in one sentence
	Origin string // where the property comes from, where that is no more than what the file system's own code takes for granted: ""
}

// An Observation is what an interpreter makes of a write.
type Observation struct {
	Point Point
	// Generation is that of the commit: the superblock's (Btrfs), the jbd2 sequence number (ext3).
	Generation uint64
	// Txn holds the changes since the last commit and View the state after them; both are set exactly
	// at a CommitPoint whose structure is sound, so that rules may rely on it.
	Txn  *change.Txn
	View change.View
	// Stream is in the place of Txn where a whole image has too many records to be held.
	Stream change.Stream
	// Logs is what changed in the logs of a Btrfs, at a LogPoint and in a whole image: a part for each tree.
	Logs []Part
	// Violations are of structure or of this single write, and can come with any write.
	Violations []change.Violation
	// Unknown says why the write could not be judged ("cannot read the block at 4096: …"): the verdict
	// is undecided. Nil otherwise.
	Unknown error
	// Baseline: if the write is done, the present state is the one that commits are compared with, and no rule has
	// judged it.
	Baseline bool
	// Note is a line for the log, "" mostly: a file system appeared, was unmounted, lost its superblock.
	Note string
}

// A Part is a set of changes that rules judge by itself, and the state after them.
type Part struct {
	Txn  *change.Txn
	View change.View
}

// An Interpreter follows one file system on one disk. It is used by one goroutine at a time. Whatever
// bytes it is shown, it answers with a value: it does not panic, nor take unbounded memory or time.
type Interpreter interface {
	// FS is the name of the file system: "btrfs", "ext3"; "" while there is none.
	FS() string
	// Schema names the numbers in the records; nil while there is no file system.
	Schema() *change.Schema
	// Observe is shown every write, in the order in which the device performs them, before it is done.
	Observe(w Write) Observation
	// Settle says what became of the write last observed: it is on the device (and what it committed
	// is the new base state), or it was refused or failed and the device is as before.
	Settle(written bool)
	// Flushed is told that the writes to a disk up to the number seq are durable. disk counts from 0 where
	// a file system has several.
	Flushed(disk int, seq uint64)
}

// A Forecaster is an Interpreter that can find what a commit changes before its commit write comes: what it leads to
// is on the disk by then, and the guest waits for a flush.
type Forecaster interface {
	// Forecast is asked when the guest begins to flush, where Observe could be called. It is nil if there is no
	// commit to expect.
	Forecast() Forecast
}

// A Forecast is a commit that is expected. If it comes as expected, Observe answers with the Txn and the View of
// the forecast. Observe, and Forecast where there is another by then, wait for Prepare, which has to be called.
type Forecast interface {
	// Prepare finds what the commit changes. It may run beside Observe and Settle. ok is false if it found that
	// there is something wrong, or was stopped: then Observe begins anew.
	Prepare() (p Part, ok bool)
	// Stop makes Prepare, and questions to the View, end soon: nobody waits for the answer.
	Stop()
}

// ErrNotFound means that a disk does not hold a file system that fsward knows.
var ErrNotFound = errors.New("no file system that fsward knows (btrfs, ext3)")

// An UnsupportedError names the feature of a file system that fsward cannot check. It is not a fault
// of the file system.
type UnsupportedError struct {
	FS      string // "btrfs"
	Feature string // "RAID56 (incompat flag 0x80)"
}

func (e *UnsupportedError) Error() string {
	return fmt.Sprintf("%s: %s is not supported", e.FS, e.Feature)
}

// A MissingDiskError is a file system on several devices of which not all are here.
type MissingDiskError struct {
	FS     string // "btrfs"
	Device string // what is missing, in words
}

func (e *MissingDiskError) Error() string {
	return fmt.Sprintf("%s: %s: all disks of a file system have to be given together (--disk, repeated)", e.FS, e.Device)
}

// A CorruptError is a file system that cannot be read as a baseline: it says where and why.
type CorruptError struct {
	FS     string
	Addr   uint64 // device address, bytes
	Reason string
}

func (e *CorruptError) Error() string {
	return fmt.Sprintf("%s: at device address %d: %s", e.FS, e.Addr, e.Reason)
}
