package detect

import (
	"io"
	"sync/atomic"

	"fsward/interp"
)

// pendingDisk is the disk, or the disks, after the write under observation.
type pendingDisk struct {
	interp.Disk
	pending atomic.Pointer[interp.Write] // forecasts read concurrently with writes
}

// Sizes returns the sizes of the disks.
func (d *pendingDisk) Sizes() []uint64 { return interp.Sizes(d.Disk) }

// DiskSize returns the size of disk i in bytes.
func (d *pendingDisk) DiskSize(i int) uint64 { return interp.Sub(d.Disk, i).Size() }

func (d *pendingDisk) ReadAt(p []byte, off int64) (int, error) {
	n, err := d.Disk.ReadAt(p, off)
	w, start := d.pending.Load(), uint64(off)
	if w == nil || off < 0 {
		return n, err
	}
	end := start + uint64(n)
	lo, hi := max(start, w.Off), min(end, w.Off+w.Len)
	switch {
	case lo >= hi:
	case w.Data == nil:
		clear(p[lo-start : hi-start])
	default:
		copy(p[lo-start:hi-start], w.Data[lo-w.Off:hi-w.Off])
	}
	return n, err
}

var _ io.ReaderAt = (*pendingDisk)(nil)
