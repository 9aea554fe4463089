package btrfs

import (
	"errors"

	"fsward/change"
	"fsward/interp"
	"fsward/interp/btrfs/ondisk"
)

// New attaches to the Btrfs on a disk, or to that on the first disk of an interp.Set that has one, and takes
// what its newest superblock says as the baseline. The error is interp.ErrNotFound if there is none,
// *interp.UnsupportedError for a feature that is not handled, *interp.MissingDiskError if one of its
// devices is not there, *interp.CorruptError if it cannot be read as a baseline.
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
	f, devs, err := open(d, i, limits)
	if err != nil {
		return nil, err
	}
	s, err := f.attach(devs)
	if err != nil {
		return nil, err
	}
	f.base = s
	f.findLog()
	return f, nil
}

// open finds the devices of the file system that has a superblock on disk i.
func open(d interp.Disk, i int, limits interp.Limits) (*FS, *devices, error) {
	f := WatchWithin(d, limits)
	devs, err := findDevices(d, f.sizes, i)
	if errors.Is(err, interp.ErrNotFound) {
		return nil, nil, err
	}
	if err != nil {
		return nil, nil, baseline(err)
	}
	return f, devs, nil
}

// attach reads the baseline from the newest superblock.
func (f *FS) attach(devs *devices) (*state, error) {
	sb, start := devs.newest()
	s, err := loadState(f.disk, sb, start+ondisk.SuperOffset, devs, f.newCache(sb))
	if err != nil {
		return nil, baseline(err)
	}
	return s, s.complete()
}

// Watch returns what follows a file system that is about to appear: the next superblock that is written is
// its. Until then, and if it is none, FS is "".
func Watch(d interp.Disk) *FS { return WatchWithin(d, interp.Limits{}) }

// WatchWithin is Watch with bounds on memory.
func WatchWithin(d interp.Disk, limits interp.Limits) *FS {
	return &FS{disk: &overlay{Disk: d}, sizes: interp.Sizes(d), names: change.NewNames(), limits: limits, memory: limits.NewMemoryBudget()}
}
