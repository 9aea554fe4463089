package detect

import (
	"errors"
	"fmt"
	"io"

	"fsward/change"
	"fsward/interp"
)

// superblockEnd is the end of the region in which every known file system has its first superblock.
const superblockEnd = 128 << 10

// A Follower is the Interpreter of a disk whose file system may not be there yet, or may be replaced:
// while there is none, writes pass, and each write near a superblock is looked at for a file system
// that it completes (mkfs in the guest).
type Follower struct {
	disk  pendingDisk
	fs    string
	inner interp.Interpreter // nil while there is no file system
	fresh bool               // inner was opened by the write that is not settled yet
}

// Follow attaches to a disk: one with a file system is read as the baseline, a blank one is watched.
// A disk that is neither is an error that wraps interp.ErrNotFound; one that holds a feature that
// cannot be checked, *interp.UnsupportedError; one that cannot be read, *interp.CorruptError.
func Follow(d interp.Disk, fs string) (*Follower, error) {
	f := &Follower{disk: pendingDisk{Disk: d}, fs: fs}
	blank, err := Blank(d)
	if err != nil {
		return nil, fmt.Errorf("cannot read the disk: %w", err)
	}
	if blank {
		return f, nil
	}
	format, err := find(d, fs)
	if err != nil {
		return nil, err
	}
	f.inner, err = format.open(&f.disk)
	return f, err
}

// FS is the name of the file system that is followed now, "" while there is none.
func (f *Follower) FS() string {
	if f.inner == nil {
		return ""
	}
	return f.inner.FS()
}

// Schema is that of the file system followed now, nil while there is none.
func (f *Follower) Schema() *change.Schema {
	if f.inner == nil {
		return nil
	}
	return f.inner.Schema()
}

// Observe passes the write to the file system's interpreter, or looks whether it makes one appear.
func (f *Follower) Observe(w interp.Write) interp.Observation {
	if f.inner != nil && f.inner.FS() != "" {
		return f.inner.Observe(w)
	}
	f.inner = nil
	if w.Off >= superblockEnd || w.Data == nil {
		return interp.Observation{}
	}
	f.disk.pending = &w
	format, err := find(&f.disk, f.fs)
	if err != nil || !format.detect(&f.disk) {
		f.disk.pending = nil
		return interp.Observation{}
	}
	inner, err := format.open(&f.disk)
	var unsupported *interp.UnsupportedError
	switch {
	case errors.As(err, &unsupported):
		return interp.Observation{Unknown: err}
	case err != nil:
		// mkfs may write its superblock before what it points to: not a file system yet.
		f.disk.pending = nil
		return interp.Observation{Note: fmt.Sprintf("%s superblock seen, not yet a whole file system: %v", format.name, err)}
	}
	f.inner, f.fresh = inner, true
	return interp.Observation{Note: "a file system appeared: " + format.name}
}

// Settle ends the write last observed.
func (f *Follower) Settle(written bool) {
	f.disk.pending = nil
	if f.fresh {
		f.fresh = false
		if !written {
			f.inner = nil
		}
		return
	}
	if f.inner != nil {
		f.inner.Settle(written)
	}
}

// Flushed tells the file system's interpreter which writes are durable.
func (f *Follower) Flushed(disk int, seq uint64) {
	if f.inner != nil {
		f.inner.Flushed(disk, seq)
	}
}

// pendingDisk is the disk as it will be when the write being observed is done.
type pendingDisk struct {
	interp.Disk
	pending *interp.Write
}

func (d *pendingDisk) ReadAt(p []byte, off int64) (int, error) {
	n, err := d.Disk.ReadAt(p, off)
	if d.pending == nil || off < 0 {
		return n, err
	}
	w, start := d.pending, uint64(off)
	end := start + uint64(n)
	lo, hi := max(start, w.Off), min(end, w.Off+w.Len)
	if lo < hi {
		copy(p[lo-start:hi-start], w.Data[lo-w.Off:hi-w.Off])
	}
	return n, err
}

var (
	_ interp.Interpreter = (*Follower)(nil)
	_ io.ReaderAt        = (*pendingDisk)(nil)
)
