package btrfs

import (
	"errors"

	"fsward/interp"
)

// New attaches to the Btrfs on a disk, or to the Btrfs on the first disk of an interp.Set that has
// one. The state that the newest superblock defines is the baseline. The error is
// interp.ErrNotFound if there is no Btrfs, *interp.UnsupportedError for an unsupported feature,
// *interp.MissingDiskError if a device is missing, and *interp.CorruptError if the baseline cannot
// be read.
func New(d interp.Disk) (*FS, error) { return NewOn(d, first(d)) }

// NewOn is New for the file system that has a superblock on disk i of a Set.
func NewOn(d interp.Disk, i int) (*FS, error) { return NewWithin(d, i, interp.Limits{}) }

// NewWithin is NewOn with bounds on memory.
func NewWithin(d interp.Disk, i int, limits interp.Limits) (*FS, error) {
	devs, err := open(d, i)
	if err != nil {
		return nil, err
	}
	return attached(WatchWithin(d, limits), devs)
}

// attached returns f with the state that the newest superblock defines as its baseline.
func attached(f *FS, devs *devices) (*FS, error) {
	var err error
	if f.base, err = f.comparer.attach(devs); err != nil {
		return nil, err
	}
	f.findLog()
	return f, nil
}

// NewDegraded is NewWithin for a file system of which devices may be lost: see FS.Lost. The error
// is an *interp.MissingDiskError if Linux would not mount it for writing, with the option degraded.
func NewDegraded(d interp.Disk, i int, limits interp.Limits) (*FS, error) {
	f := WatchWithin(d, limits)
	devs, err := open(d, i)
	if err == nil {
		devs, err = f.comparer.degraded(devs)
	}
	if err != nil {
		return nil, err
	}
	return attached(f, devs)
}

// open finds the devices of the file system that has a superblock on disk i of d.
func open(d interp.Disk, i int) (*devices, error) {
	devs, err := findDevices(d, interp.Sizes(d), i)
	if err != nil && !errors.Is(err, interp.ErrNotFound) {
		err = baseline(err)
	}
	return devs, err
}

// Watch returns an interpreter that waits for a file system to appear. It adopts the file system of
// the next superblock that is written. Until then, FS returns "".
func Watch(d interp.Disk) *FS { return WatchWithin(d, interp.Limits{}) }

// WatchWithin is Watch with bounds on memory.
func WatchWithin(d interp.Disk, limits interp.Limits) *FS {
	return &FS{comparer: newComparer(d, limits)}
}
