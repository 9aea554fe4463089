// Package overlay is a copy-on-write disk: it stores changes in a temporary file and never writes
// to its base. The size of that file depends on the amount of data written, not on the size of the
// base. Start reading at Disk; Disk.Keep makes it a snapshot of a base that changes.
package overlay

import (
	"fmt"
	"io"
	"os"
	"sync"

	"fsward/blocktap"
)

const (
	// blockSize is the unit of copying: the first write to a part of a block copies the rest of it.
	blockSize = 4096
	// zeroPiece is the largest size in bytes of the buffer from which writeZeros writes.
	zeroPiece = 1 << 20
)

// A Base is the read-only source of all blocks that an overlay has not changed.
type Base interface {
	io.ReaderAt
	Size() uint64 // bytes
}

// A Disk is a copy-on-write disk over a base. It is safe for concurrent use.
type Disk struct {
	base Base
	size uint64

	mu      sync.RWMutex // held for writing while blocks change
	changes *os.File     // sparse, without a name; each block has the same offset as in the base
	changed blockSet
}

var _ blocktap.Disk = (*Disk)(nil)

// New returns a disk that reads as base and stores writes itself. Close does not close the base.
func New(base Base) (*Disk, error) {
	f, err := blocktap.TempFile()
	if err != nil {
		return nil, fmt.Errorf("overlay: %w", err)
	}
	d := &Disk{base: base, size: base.Size(), changes: f, changed: newBlockSet()}
	// Make the file as long as the base in whole blocks, so that ReadAt can read a changed last block.
	if err := f.Truncate(int64(d.size+blockSize-1) / blockSize * blockSize); err != nil {
		_ = f.Close()
		return nil, fmt.Errorf("overlay: %w", err)
	}
	return d, nil
}

// Size returns the size of the base in bytes.
func (d *Disk) Size() uint64 { return d.size }

// Changed returns the number of bytes that no longer come from the base.
func (d *Disk) Changed() uint64 {
	d.mu.RLock()
	defer d.mu.RUnlock()
	return d.changed.n * blockSize
}

// Flush does nothing: the changes of an overlay are lost with the process in any case.
func (d *Disk) Flush() error { return nil }

// Close discards the changes.
func (d *Disk) Close() error { return d.changes.Close() }

func (d *Disk) bounds(off, n uint64) error {
	if off > d.size || n > d.size-off {
		return fmt.Errorf("overlay: %d bytes at %d: %w of %d bytes",
			n, off, blocktap.ErrRange, d.size)
	}
	return nil
}

// ReadAt reads changed blocks from the changes and all others from the base, in runs as long as
// possible.
func (d *Disk) ReadAt(p []byte, off int64) (int, error) {
	if err := d.bounds(uint64(off), uint64(len(p))); err != nil {
		return 0, err
	}
	d.mu.RLock()
	defer d.mu.RUnlock()
	done := 0
	for done < len(p) {
		at := uint64(off) + uint64(done)
		end := uint64(off) + uint64(len(p))
		own := d.changed.has(at / blockSize)
		next := (at/blockSize + 1) * blockSize
		for next < end && d.changed.has(next/blockSize) == own {
			next += blockSize
		}
		piece := p[done : done+int(min(next, end)-at)]
		var from io.ReaderAt = d.base
		if own {
			from = d.changes
		}
		// An io.ReaderAt may return io.EOF with a full read at the end of the source.
		if n, err := from.ReadAt(piece, int64(at)); n < len(piece) {
			return done + n, fmt.Errorf("overlay: reading %d bytes at %d: %w", len(piece), at, err)
		}
		done += len(piece)
	}
	return done, nil
}

// WriteAt writes to the changes. It first copies the first and last block from the base if p covers
// only a part of them.
func (d *Disk) WriteAt(p []byte, off int64) (int, error) {
	if err := d.bounds(uint64(off), uint64(len(p))); err != nil {
		return 0, err
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.write(p, uint64(off))
}

func (d *Disk) write(p []byte, off uint64) (int, error) {
	if len(p) == 0 {
		return 0, nil
	}
	end := off + uint64(len(p))
	// Only the first and the last block can be written in part.
	for _, block := range [2]uint64{off / blockSize, (end - 1) / blockSize} {
		start := block * blockSize
		if whole := off <= start && start+blockSize <= end; !whole && !d.changed.has(block) {
			if err := d.copyUp(block); err != nil {
				return 0, err
			}
		}
	}
	n, err := d.changes.WriteAt(p, int64(off))
	if err != nil {
		return n, fmt.Errorf("overlay: %w", err)
	}
	d.changed.add(off/blockSize, (end+blockSize-1)/blockSize)
	return n, nil
}

// copyUp copies a block from the base to the changes.
func (d *Disk) copyUp(block uint64) error {
	start := block * blockSize
	buf := make([]byte, min(blockSize, d.size-start))
	if n, err := d.base.ReadAt(buf, int64(start)); n < len(buf) {
		return fmt.Errorf("overlay: reading %d bytes at %d: %w", len(buf), start, err)
	}
	if _, err := d.changes.WriteAt(buf, int64(start)); err != nil {
		return fmt.Errorf("overlay: %w", err)
	}
	d.changed.add(block, block+1)
	return nil
}

// Trim zeros the range, so that the content of a trimmed range does not depend on earlier writes.
func (d *Disk) Trim(off, n uint64) error { return d.Zero(off, n) }
