package btrfs

import "fsward/interp"

// An overlay is the disk as it will be after the write under observation. A large write may hold
// metadata blocks along with the superblock that leads to them.
type overlay struct {
	interp.Disk
	pending *interp.Write
}

// ReadAt reads through the pending write. A discarded range reads as zeros: its contents are
// undefined, so that nothing may rely on them. What the write replaces as a whole is not read from
// the disk: its present contents do not matter, and neither does an error of the disk there.
func (d *overlay) ReadAt(p []byte, off int64) (n int, err error) {
	w, start := d.pending, uint64(off)
	if w != nil && off >= 0 && w.Off <= start && start+uint64(len(p)) <= w.Off+w.Len {
		n = len(p)
	} else if n, err = d.Disk.ReadAt(p, off); w == nil || off < 0 {
		return n, err
	}
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
