package overlay

import (
	"bytes"
	"fmt"
)

// Keep copies what a range of the base holds, as far as the overlay does not have its own contents there. Called
// before each write to the base, it makes the overlay stay what the base was when the overlay was made, while the
// base goes on; ranges whose contents no longer matter can be left out.
func (d *Disk) Keep(off, n uint64) error {
	if err := d.bounds(off, n); err != nil {
		return err
	}
	if n == 0 {
		return nil
	}
	// Whoever reads holds the lock until it is done, so that what it finds unchanged is read before the write.
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

// keepBlocks is how many blocks are copied at a time.
const keepBlocks = 256

// copyRun copies the blocks [from, to) from the base to the changes, where a hole will do for zeros.
func (d *Disk) copyRun(from, to uint64) error {
	start := from * blockSize
	buf := make([]byte, min((to-from)*blockSize, d.size-start))
	if n, err := d.base.ReadAt(buf, int64(start)); n < len(buf) {
		return fmt.Errorf("overlay: reading %d bytes at %d: %w", len(buf), start, err)
	}
	// Counting is faster than a loop that could end early: it takes 32 bytes at a time.
	if bytes.Count(buf, []byte{0}) < len(buf) {
		if _, err := d.changes.WriteAt(buf, int64(start)); err != nil {
			return fmt.Errorf("overlay: %w", err)
		}
	}
	d.changed.add(from, to)
	return nil
}
