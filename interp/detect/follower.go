package detect

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"fsward/change"
	"fsward/interp"
)

// superblockEnd is the end of the region that holds the first superblock of every known file
// system, bytes.
const superblockEnd = 128 << 10

// A Follower is the Interpreter of disks whose file systems may appear later or be replaced. While
// a disk has none, writes to it pass, and the Follower checks after each write near a superblock
// whether the write completes a file system (mkfs in the guest). It follows one disk, or the disks
// of an interp.Set. Several disks can belong to one file system.
type Follower struct {
	disk     pendingDisk // all of them
	fs       string
	limits   interp.Limits
	degraded bool // devices of a file system may be lost
	ordered  bool // ExpectOrdered was called
	followed owners
	shown    []*followed // those that the write under observation was shown to
	settled  []*followed // those that the write last settled was shown to
	fresh    *followed   // the one that appeared with this write
	at       *followed   // the one that the last write went to
}

// Follow attaches to a disk, or to the disks of an interp.Set: it reads a disk with a file system
// as the baseline, and watches a blank disk. The error is a *DiskError. It wraps interp.ErrNotFound
// if the disk is neither, *interp.UnsupportedError if the file system has a feature that cannot be
// checked, *interp.MissingDiskError if disks are missing, or *interp.CorruptError if the file
// system cannot be read.
func Follow(d interp.Disk, fs string) (*Follower, error) {
	return FollowWithin(d, fs, interp.Limits{})
}

// FollowWithin is Follow with bounds on the memory for each file system.
func FollowWithin(d interp.Disk, fs string, limits interp.Limits) (*Follower, error) {
	f := &Follower{disk: pendingDisk{Disk: d}, fs: fs, limits: limits}
	for i := range interp.Sizes(d) {
		if f.ownerOf(i) != nil {
			continue
		}
		if err := f.attach(i); err != nil {
			return nil, &DiskError{i, err}
		}
	}
	if len(f.followed.list) > 0 {
		f.at = f.followed.list[0]
		return f, nil
	}
	return f, f.incomplete()
}

// incomplete returns an error if one of the disks belongs to a file system on another disk, and no
// disk is blank, where that file system could still appear.
func (f *Follower) incomplete() error {
	var missing error
	for i := range interp.Sizes(f.disk.Disk) {
		d := interp.Sub(&f.disk, i)
		format, what := partOf(d)
		if what == "" {
			return nil // a disk without a file system is blank
		}
		missing = &DiskError{i, &interp.MissingDiskError{FS: format.name, Device: what}}
	}
	return missing
}

func (f *Follower) attach(i int) error {
	d := interp.Sub(&f.disk, i)
	blank, err := Blank(d)
	if err != nil {
		return err
	}
	if blank {
		return nil
	}
	if _, missing := partOf(d); missing != "" {
		return nil // the file system that it belongs to owns it
	}
	format, err := find(d, f.fs)
	if err != nil {
		return err
	}
	open := format.open
	if f.degraded && format.degraded != nil {
		open = format.degraded
	}
	in, err := open(&f.disk, i, f.limits)
	if err == nil {
		f.followed.add(&followed{in, i})
	}
	return err
}

// An orderer is an interpreter of a file system that can be mounted so that data is written before
// the commit that makes it reachable.
type orderer interface{ ExpectOrdered() }

// ExpectOrdered says that the guest mounts every ext3 on the disks with data=ordered, also those
// that appear later: the data that a commit makes reachable must be written before the commit. The
// mode is not stored on the disk.
func (f *Follower) ExpectOrdered() {
	f.ordered = true
	for _, in := range f.followed.list {
		expectOrdered(in.Interpreter)
	}
}

func expectOrdered(in interp.Interpreter) {
	if o, ok := in.(orderer); ok {
		o.ExpectOrdered()
	}
}

// ownerOf returns the file system to which a disk belongs, or nil.
func (f *Follower) ownerOf(disk int) *followed { return f.followed.of(disk) }

// On returns the name of the file system on a disk, "" while there is none.
func (f *Follower) On(disk int) string {
	if in := f.ownerOf(disk); in != nil {
		return in.FS()
	}
	return ""
}

// A loser is an interpreter of a file system that can do without some of its devices. Lost
// describes those that are missing.
type loser interface{ Lost() string }

// Lost describes the devices that the file system on a disk lacks; "" if it is whole.
func (f *Follower) Lost(disk int) string {
	if in := f.ownerOf(disk); in != nil {
		if l, ok := in.Interpreter.(loser); ok {
			return l.Lost()
		}
	}
	return ""
}

// Needs returns a function that reports whether Image may read a range of a disk for the state that
// its file system is in now. It returns nil if Image may read all of the disk.
func (f *Follower) Needs(disk int) func(off, n uint64) bool {
	if in := f.ownerOf(disk); in != nil {
		if b, ok := in.Interpreter.(interp.Baseline); ok {
			return b.Needs()
		}
	}
	return nil
}

// Found returns the changes that the next mount makes, as the disk had them when it was attached.
// Only the first disk of a file system has a result.
func (f *Follower) Found(disk int) interp.Observation {
	if in := f.ownerOf(disk); in != nil && in.disk == disk {
		if b, ok := in.Interpreter.(interp.Finder); ok {
			return b.Found()
		}
	}
	return interp.Observation{}
}

// Together reports whether two disks belong to one file system.
func (f *Follower) Together(i, j int) bool {
	in := f.ownerOf(i)
	return in != nil && in == f.ownerOf(j)
}

// Members returns the disks of the file system on a disk, ascending: the disk alone if it has none.
func (f *Follower) Members(disk int) []int {
	if in := f.ownerOf(disk); in != nil {
		return in.disks()
	}
	return []int{disk}
}

// A sprout is an interpreter of a file system that can read disks of other file systems: its seeds.
type sprout interface{ Seeds() []int }

// Seeds returns the disks that the file system on a disk also reads, and which belong to others,
// ascending.
func (f *Follower) Seeds(disk int) []int {
	in := f.ownerOf(disk)
	if in == nil {
		return nil
	}
	s, ok := in.Interpreter.(sprout)
	if !ok {
		return nil
	}
	return slices.Sorted(slices.Values(s.Seeds()))
}

// FS returns the name of the file system that the write last observed went to, "" if there is none.
func (f *Follower) FS() string {
	if f.at == nil {
		return ""
	}
	return f.at.FS()
}

// Schema returns the schema of the file system that the write last observed went to, nil if there
// is none.
func (f *Follower) Schema() *change.Schema {
	if f.at == nil {
		return nil
	}
	return f.at.Schema()
}

// Observe passes the write to the interpreter of the disk's file system. If there is none, it
// checks whether the write makes one appear there, or makes the disk a part of one.
func (f *Follower) Observe(w interp.Write) interp.Observation {
	disk, off := interp.Locate(w.Off)
	f.shown = f.shown[:0]
	var obs interp.Observation
	f.at = f.ownerOf(disk)
	if f.at != nil {
		obs = f.show(f.at, w)
		if f.at.owns(disk) {
			return obs
		}
	}
	// No file system owns the disk, or its owner gives it up with this write.
	if off >= superblockEnd || w.Data == nil {
		return obs
	}
	for _, in := range f.followed.several {
		if in == f.at {
			continue
		}
		if joined := f.show(in, w); in.owns(disk) {
			f.at = in
			return after(obs, joined)
		}
	}
	return after(obs, f.appear(disk, w))
}

// show passes a write to an interpreter.
func (f *Follower) show(in *followed, w interp.Write) interp.Observation {
	f.shown = append(f.shown, in)
	return in.Observe(w)
}

// after joins the observation of the file system that loses the disk with that of the one that gets
// it.
func after(left, came interp.Observation) interp.Observation {
	came.Note = strings.TrimPrefix(strings.TrimSuffix(left.Note+"; "+came.Note, "; "), "; ")
	if len(left.Violations) > 0 || left.Unknown != nil {
		left.Note = came.Note
		return left
	}
	return came
}

// appear checks whether a write completes the superblock of a file system.
func (f *Follower) appear(disk int, w interp.Write) interp.Observation {
	f.disk.pending.Store(&w)
	d := interp.Sub(&f.disk, disk)
	format, err := find(d, f.fs)
	if err != nil || !format.detect(d) {
		f.disk.pending.Store(nil)
		return interp.Observation{}
	}
	if format.watch != nil {
		f.disk.pending.Store(nil)
		f.fresh = &followed{format.watch(&f.disk, f.limits), disk}
		f.at = f.fresh
		return f.show(f.fresh, w)
	}
	in, err := format.open(&f.disk, disk, f.limits)
	var unsupported *interp.UnsupportedError
	var missing *interp.MissingDiskError
	switch {
	case errors.As(err, &unsupported) || errors.As(err, &missing):
		return interp.Observation{Unknown: err}
	case err != nil:
		// mkfs may write its superblock before the blocks that it points to: this is no file system
		// yet.
		f.disk.pending.Store(nil)
		return interp.Observation{Note: fmt.Sprintf("%s superblock seen, not yet a whole file system: %v",
			format.name, err)}
	}
	if f.ordered {
		expectOrdered(in)
	}
	f.fresh = &followed{in, disk}
	f.at = f.fresh
	return interp.Observation{Note: "a file system appeared: " + format.name, Baseline: true}
}

// Settle ends the write last observed.
func (f *Follower) Settle(written bool) {
	f.disk.pending.Store(nil)
	gone := false
	for _, in := range f.shown {
		in.Settle(written)
		gone = gone || in.FS() == ""
	}
	// A write outside all volumes is shown to none, and is settled too.
	f.shown, f.settled = f.settled[:0], f.shown
	if f.fresh != nil {
		if written && f.fresh.FS() != "" {
			f.followed.add(f.fresh)
		}
		f.fresh = nil
	}
	if gone {
		f.followed.remove(func(in *followed) bool { return in.FS() == "" })
	}
}

// drop ends the file system on a disk that is gone. A file system on several disks ends as a whole.
func (f *Follower) drop(disk int) {
	gone := f.ownerOf(disk)
	f.followed.remove(func(in *followed) bool { return in == gone })
	if f.at == gone {
		f.at = nil
	}
}

// A resizer is an interpreter that keeps the sizes of its disks.
type resizer interface{ Resized(disk int) }

// resized tells the file system on a disk that the disk has another size.
func (f *Follower) resized(disk int) {
	if in := f.ownerOf(disk); in != nil {
		if r, ok := in.Interpreter.(resizer); ok {
			r.Resized(disk)
		}
	}
}

// Accept passes the call on to the file systems that the write last settled was shown to.
func (f *Follower) Accept() {
	for _, in := range f.settled {
		if a, ok := in.Interpreter.(interp.Accepter); ok {
			a.Accept()
		}
	}
}

// Flushed passes on which writes to a disk are durable.
func (f *Follower) Flushed(disk int, seq uint64) {
	if in := f.ownerOf(disk); in != nil {
		in.Flushed(disk, seq)
	}
}

// Forecast asks the interpreter, if there is one for all disks. A flush of a disk says nothing
// about the file systems of the others.
func (f *Follower) Forecast() interp.Forecast {
	var in *followed
	for i, size := range interp.Sizes(f.disk.Disk) {
		if size == 0 {
			continue
		}
		if owner := f.ownerOf(i); owner == nil || in != nil && owner != in {
			return nil
		} else {
			in = owner
		}
	}
	if in == nil {
		return nil
	}
	if forecaster, ok := in.Interpreter.(interp.Forecaster); ok {
		return forecaster.Forecast()
	}
	return nil
}

var _ interp.Interpreter = (*Follower)(nil)
