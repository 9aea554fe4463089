package overlay

import (
	"bytes"
	"fmt"
)

// Keep copies the blocks of a range from the base, except those that the overlay has changed. A
// caller that calls Keep before each write to the base makes the overlay a snapshot: it reads as
// the base did when the overlay was made. The caller may skip ranges whose old content no longer
// matters.
func (d *Disk) Keep(off, n uint64) error {
	if err := d.bounds(off, n); err != nil {
		return err
	}
	if n == 0 {
		return nil
	}
	// ReadAt holds the lock while it reads an unchanged block from the base. Keep waits for it, so
	// that the caller writes to the base only afterwards.
	d.mu.Lock()
	defer d.mu.Unlock()
	end := (off + n + blockSize - 1) / blockSize
	for block := off / blockSize; block < end; {
		run := block
		for run < min(end, block+keepBlocks) && !d.changed.has(run) {
			run++
		}
		if run == block {
			block++
			continue
		}
		if err := d.copyRun(block, run); err != nil {
			return err
		}
		block = run
	}
	return nil
}

// keepBlocks is the largest number of blocks that Keep copies at a time.
const keepBlocks = 256

// copyRun copies the blocks [from, to) from the base to the changes. It does not store a run that
// is all zeros: the hole in the changes reads as zeros.
func (d *Disk) copyRun(from, to uint64) error {
	start := from * blockSize
	buf := make([]byte, min((to-from)*blockSize, d.size-start))
	if n, err := d.base.ReadAt(buf, int64(start)); n < len(buf) {
		return fmt.Errorf("overlay: reading %d bytes at %d: %w", len(buf), start, err)
	}
	// bytes.Count is faster than a loop that could end early, because it compares 32 bytes at a time.
	if bytes.Count(buf, []byte{0}) < len(buf) {
		if _, err := d.changes.WriteAt(buf, int64(start)); err != nil {
			return fmt.Errorf("overlay: %w", err)
		}
	}
	d.changed.add(from, to)
	return nil
}
