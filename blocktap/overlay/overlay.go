// Package overlay is a disk whose changes go to a temporary file and leave its base as it is. What it
// costs grows with what is written, not with the size of the base.
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
	// zeroPiece bounds the buffer with which a range is made zeros.
	zeroPiece = 1 << 20
)

// Base is what an overlay stands on. It is only read.
type Base interface {
	io.ReaderAt
	Size() uint64 // bytes
}

// Disk is a copy-on-write disk over a base. Safe for concurrent use.
type Disk struct {
	base Base
	size uint64

	mu      sync.RWMutex // held for writing while blocks change
	changes *os.File     // sparse, without a name; a block stands where it stands in the base
	changed blockSet
}

var _ blocktap.Disk = (*Disk)(nil)

// New returns a disk that reads like base and keeps what is written to itself. Closing it does not
// close the base.
func New(base Base) (*Disk, error) {
	f, err := blocktap.TempFile()
	if err != nil {
		return nil, fmt.Errorf("overlay: %w", err)
	}
	d := &Disk{base: base, size: base.Size(), changes: f, changed: newBlockSet()}
	// As long as the base, so that a changed block at its end reads whole.
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

// Flush does nothing: the changes of an overlay are gone with the process anyhow.
func (d *Disk) Flush() error { return nil }

// Close gives up the changes.
func (d *Disk) Close() error { return d.changes.Close() }

func (d *Disk) bounds(off, n uint64) error {
	if off > d.size || n > d.size-off {
		return fmt.Errorf("overlay: %d bytes at %d: %w of %d bytes", n, off, blocktap.ErrRange, d.size)
	}
	return nil
}

// ReadAt reads changed blocks from the changes and the others from the base, in runs as long as possible.
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
		// io.ReaderAt may return io.EOF with a read that ends where the source does.
		if n, err := from.ReadAt(piece, int64(at)); n < len(piece) {
			return done + n, fmt.Errorf("overlay: reading %d bytes at %d: %w", len(piece), at, err)
		}
		done += len(piece)
	}
	return done, nil
}

// WriteAt writes to the changes.
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
	// Only the blocks at the two ends can be written in part.
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

// Trim makes the range zeros, so that what a trimmed range holds does not depend on what was written to
// it before.
func (d *Disk) Trim(off, n uint64) error { return d.Zero(off, n) }
