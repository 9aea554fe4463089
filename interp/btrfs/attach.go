package btrfs

import (
	"errors"

	"fsward/interp"
)

// New attaches to the Btrfs on a disk, or to that on the first disk of an interp.Set that has one,
// and takes what its newest superblock says as the baseline. The error is interp.ErrNotFound if
// there is none, *interp.UnsupportedError for a feature that is not handled,
// *interp.MissingDiskError if one of its devices is not there, *interp.CorruptError if it cannot be
// read as a baseline.
func New(d interp.Disk) (*FS, error) { return NewOn(d, first(d)) }

// first returns the first disk of a Set that has a superblock of Btrfs, 0 if none has.
func first(d interp.Disk) int {
	for i := range interp.Sizes(d) {
		if Detect(interp.Sub(d, i)) {
			return i
		}
	}
	return 0
}

// NewOn is New for the file system that has a superblock on disk i of a Set.
func NewOn(d interp.Disk, i int) (*FS, error) { return NewWithin(d, i, interp.Limits{}) }

// NewWithin is NewOn with bounds on memory.
func NewWithin(d interp.Disk, i int, limits interp.Limits) (*FS, error) {
	f := WatchWithin(d, limits)
	devs, err := open(d, i)
	if err != nil {
		return nil, err
	}
	if f.base, err = f.comparer.attach(devs); err != nil {
		return nil, err
	}
	f.findLog()
	return f, nil
}

// open finds the devices of the file system that has a superblock on disk i of d.
func open(d interp.Disk, i int) (*devices, error) {
	devs, err := findDevices(d, interp.Sizes(d), i)
	if err != nil && !errors.Is(err, interp.ErrNotFound) {
		err = baseline(err)
	}
	return devs, err
}

// Watch returns an interpreter for a file system that is about to appear: the next superblock that
// is written is its. Until then its FS is "".
func Watch(d interp.Disk) *FS { return WatchWithin(d, interp.Limits{}) }

// WatchWithin is Watch with bounds on memory.
func WatchWithin(d interp.Disk, limits interp.Limits) *FS {
	return &FS{comparer: newComparer(d, limits), sizes: interp.Sizes(d)}
}
