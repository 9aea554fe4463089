// Package detect finds out which file system a disk holds and opens its interpreter. All commands
// take the file systems from the table formats: a new one is a new row. Start with Follow.
package detect

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"fsward/change"
	"fsward/interp"
	"fsward/interp/btrfs"
	btrfscorrupt "fsward/interp/btrfs/corrupt"
	"fsward/interp/ext3"
	ext3corrupt "fsward/interp/ext3/corrupt"
	"fsward/interp/volume"
)

// Auto makes fsward find out which file system a disk holds.
const Auto = "auto"

type format struct {
	name   string
	detect func(interp.Disk) bool
	open   openFunc
	// degraded opens a file system of which devices may be lost; nil: open does.
	degraded openFunc
	// watch opens a file system that is about to appear; nil: open does.
	watch watchFunc
	// part describes what a disk lacks that belongs to a file system on another disk; "" if it
	// belongs to none; may be nil
	part func(interp.Disk) string
	// member returns an id that all disks of one file system share; "" for another disk
	member func(interp.Disk) string
	// backup finds a copy of the superblock if the primary one is missing
	backup     func(interp.Disk) (at uint64, ok bool)
	image      func(interp.Disk, interp.ImageOptions) (interp.Observation, error)
	base       func(interp.Disk) (interp.BaseState, error)
	replay     func(interp.Disk) (interp.Replayed, error) // may be nil
	files      func(interp.Disk) (interp.Files, error)
	schema     func() *change.Schema
	alter      func(interp.Disk, string) (interp.Alterer, error)
	corrupt    func(d interp.Disk, last bool) (interp.Corrupter, error)
	alterables func() []interp.Alterable
	checks     func() []interp.Check
}

// An openFunc opens the file system on disk i of d.
type openFunc func(d interp.Disk, i int, limits interp.Limits) (interp.Interpreter, error)

type watchFunc func(interp.Disk, interp.Limits) interp.Interpreter

var formats = []format{
	{"btrfs", btrfs.Detect, opener(btrfs.NewWithin), opener(btrfs.NewDegraded),
		watcher(btrfs.WatchWithin), nil, btrfs.Member,
		btrfs.Backup,
		btrfs.ImageWith,
		btrfs.NewBaseState, nil, btrfs.OpenFiles, btrfs.Schema,
		btrfscorrupt.NewAlterer, btrfscorrupt.NewCorrupter, btrfscorrupt.Alterables, btrfs.Checks},
	{"ext3", ext3.Detect, opener(ext3.NewWithin), nil, nil, ext3.JournalDevice, ext3.Member,
		ext3.Backup,
		ext3.ImageWith,
		ext3.NewBaseState, ext3.Replay, ext3.OpenFiles, ext3.Schema,
		ext3corrupt.NewAlterer, ext3corrupt.NewCorrupter, ext3corrupt.Alterables, ext3.Checks},
}

// opener widens the result of a constructor to the interface, and keeps a nil result nil.
func opener[T interp.Interpreter](open func(interp.Disk, int, interp.Limits) (T, error)) openFunc {
	return func(d interp.Disk, i int, limits interp.Limits) (interp.Interpreter, error) {
		f, err := open(d, i, limits)
		if err != nil {
			return nil, err
		}
		return f, nil
	}
}

// watcher widens the result of a constructor to the interface.
func watcher[T interp.Interpreter](watch func(interp.Disk, interp.Limits) T) watchFunc {
	return func(d interp.Disk, limits interp.Limits) interp.Interpreter { return watch(d, limits) }
}

// A DiskError is an error about one of several disks.
type DiskError struct {
	Disk int
	Err  error
}

func (e *DiskError) Error() string { return fmt.Sprintf("disk %d: %v", e.Disk, e.Err) }

// Unwrap returns the error itself.
func (e *DiskError) Unwrap() error { return e.Err }

// Names lists the values of a file system option: Auto and the names of all file systems.
func Names() []string {
	names := []string{Auto}
	for _, f := range formats {
		names = append(names, f.name)
	}
	return names
}

// CheckName returns an error that lists the choices if fs is not one of Names.
func CheckName(fs string) error {
	if names := Names(); !slices.Contains(names, fs) {
		return fmt.Errorf("file system %q is not one of %s", fs, strings.Join(names, ", "))
	}
	return nil
}

// find returns the format of a disk: the one with the name fs or, under Auto, the one whose magic
// is there. In an interp.Set the first disk with a file system decides. The error is
// interp.ErrNotFound, that of a read, or says that the name is unknown.
func find(d interp.Disk, fs string) (format, error) {
	for i := range interp.Sizes(d) {
		for _, f := range formats {
			if f.name == fs || fs == Auto && f.detect(interp.Sub(d, i)) {
				return f, nil
			}
		}
	}
	if fs != Auto {
		return format{}, CheckName(fs)
	}
	for i := range interp.Sizes(d) {
		if f, missing := partOf(interp.Sub(d, i)); missing != "" {
			return format{}, &interp.MissingDiskError{FS: f.name, Device: missing}
		}
		if _, err := Blank(interp.Sub(d, i)); err != nil {
			return format{}, err
		}
	}
	return format{}, interp.ErrNotFound
}

// partOf returns the format of the file system on another disk to which a disk belongs, and
// describes what the disk lacks. missing is "" if the disk belongs to no such file system.
func partOf(d interp.Disk) (of format, missing string) {
	for _, f := range formats {
		switch {
		case f.detect(d):
			return format{}, ""
		case f.part != nil && missing == "":
			of, missing = f, f.part(d)
		}
	}
	return of, missing
}

// Image reads the whole disk as one transaction of additions. The disks of an interp.Set have to be
// those of one file system.
func Image(d interp.Disk, fs string) (string, interp.Observation, error) {
	return ImageWith(d, fs, interp.ImageOptions{})
}

// ImageWith is Image with bounds on memory and a report of progress.
func ImageWith(d interp.Disk, fs string,
	options interp.ImageOptions) (string, interp.Observation, error) {
	f, err := find(d, fs)
	if err != nil {
		return "", interp.Observation{}, err
	}
	obs, err := f.image(d, options)
	obs.MarkWhole()
	return f.name, obs, err
}

// Files opens the files of the last commit on a disk. It does not check that the state is sound:
// see Image.
func Files(d interp.Disk, fs string) (interp.Files, error) {
	f, err := find(d, fs)
	if err != nil {
		return nil, err
	}
	return f.files(d)
}

// BaseState reads the file system on a disk as the base state of comparisons. It does not check
// that the state is sound: see Image.
func BaseState(d interp.Disk, fs string) (string, interp.BaseState, error) {
	f, err := find(d, fs)
	if err != nil {
		return "", nil, err
	}
	k, err := f.base(d)
	return f.name, k, err
}

// Replay returns what recovery makes of a disk. It is an error if that is not known for the file
// system.
func Replay(d interp.Disk, fs string) (interp.Replayed, error) {
	f, err := find(d, fs)
	switch {
	case err != nil:
		return nil, err
	case f.replay == nil:
		return nil, fmt.Errorf("the recovery of %s is not known", f.name)
	}
	return f.replay(d)
}

// RuleSets lists the subjects of rules: the file systems, and the tables that divide disks into
// volumes.
func RuleSets() []string { return append(Names()[1:], volume.Schema().FS) }

// Schema returns the schema of a file system by name, or that of tables. It returns nil if there is
// no such file system.
func Schema(fs string) *change.Schema {
	if fs == volume.Schema().FS {
		return volume.Schema()
	}
	for _, f := range formats {
		if f.name == fs {
			return f.schema()
		}
	}
	return nil
}

// Alterer returns an Alterer for writes to the file system on a disk.
func Alterer(d interp.Disk, fs, spec string) (interp.Alterer, error) {
	f, err := find(d, fs)
	if err != nil {
		return nil, err
	}
	return f.alter(d, spec)
}

// Corrupter returns a Corrupter of the file system on a disk. It alters the whole state or, with
// last, only blocks that the last transaction wrote.
func Corrupter(d interp.Disk, fs string, last bool) (interp.Corrupter, error) {
	f, err := find(d, fs)
	if err != nil {
		return nil, err
	}
	return f.corrupt(d, last)
}

// Name returns the name of the file system on a disk.
func Name(d interp.Disk, fs string) (string, error) {
	f, err := find(d, fs)
	return f.name, err
}

// Alterables lists what a Corrupter of a file system can alter. It returns nil if there is no such
// file system.
func Alterables(fs string) []interp.Alterable {
	for _, f := range formats {
		if f.name == fs {
			return f.alterables()
		}
	}
	return nil
}

// Checks lists the checks that an interpreter makes before any rule runs. fs is one of RuleSets.
// The result is nil if there is no such interpreter.
func Checks(fs string) []interp.Check {
	if fs == volume.Schema().FS {
		return volume.Checks()
	}
	for _, f := range formats {
		if f.name == fs {
			return f.checks()
		}
	}
	return nil
}

// blankBytes is the number of bytes at the start of a disk that are zeros on a blank disk. They
// cover the places of all superblocks and partition tables that fsward knows.
const blankBytes = 1 << 20

// Blank reports whether a disk holds nothing yet. The error names the first byte that cannot be
// read.
func Blank(d interp.Disk) (bool, error) {
	buf := make([]byte, min(blankBytes, d.Size()))
	_, err := d.ReadAt(buf, 0)
	if err == nil || errors.Is(err, io.EOF) {
		return zero(buf), nil
	}
	const piece = 4096 // bytes
	for off := 0; off < len(buf); off += piece {
		_, pieceErr := d.ReadAt(buf[off:min(off+piece, len(buf))], int64(off))
		if pieceErr != nil && !errors.Is(pieceErr, io.EOF) {
			return false, fmt.Errorf("cannot read byte %d: %w", off, pieceErr)
		}
	}
	return false, fmt.Errorf("cannot read the first %d bytes: %w", len(buf), err)
}

func zero(b []byte) bool {
	for _, c := range b {
		if c != 0 {
			return false
		}
	}
	return true
}
