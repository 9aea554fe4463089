package btrfs

import "fsward/interp"

// An overlay is the disk as it will be after the write under observation. A large write may hold
// metadata blocks along with the superblock that leads to them.
type overlay struct {
	interp.Disk
	pending *interp.Write
}

// ReadAt reads through the pending write. A discarded range reads as zeros: its contents are
// undefined, so that nothing may rely on them.
func (d *overlay) ReadAt(p []byte, off int64) (int, error) {
	n, err := d.Disk.ReadAt(p, off)
	if d.pending == nil || off < 0 {
		return n, err
	}
	w, start := d.pending, uint64(off)
	lo, hi := max(start, w.Off), min(start+uint64(n), w.Off+w.Len)
	if lo >= hi {
		return n, err
	}
	if w.Data == nil {
		clear(p[lo-start : hi-start])
		return n, err
	}
	copy(p[lo-start:hi-start], w.Data[lo-w.Off:hi-w.Off])
	return n, err
}
