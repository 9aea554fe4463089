package guest

import (
	"errors"
	"fmt"
	"sync"

	"fsward/blocktap"
	"fsward/blocktap/overlay"
)

// maxDepth bounds the checkpoints that stand on each other: each makes reading a little slower.
const maxDepth = 64

// layer is what a disk held at a checkpoint: what changed since the layer below. It does not change any more.
type layer struct {
	disk  *overlay.Disk
	below *layer // nil: the base
	depth int
	users int // the checkpoint, the layers above, the disk
}

// Disk is a disk of a guest whose content is saved and put back in no time: a stack of overlays on a base that is only read.
// Safe for concurrent use.
type Disk struct {
	base overlay.Base

	mu    sync.RWMutex // held for writing while the content is switched
	top   *overlay.Disk
	below *layer // of top
}

var _ blocktap.Disk = (*Disk)(nil)

// NewDisk returns a disk that reads like base at first. Closing it does not close the base.
func NewDisk(base overlay.Base) (*Disk, error) {
	top, err := overlay.New(base)
	if err != nil {
		return nil, err
	}
	return &Disk{base: base, top: top}, nil
}

// save makes what the disk holds now a layer, which the caller uses until it drops it.
func (d *Disk) save() (*layer, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	l := &layer{disk: d.top, below: d.below, users: 2} // its checkpoint and d
	if d.below != nil {
		if l.depth = d.below.depth + 1; l.depth >= maxDepth {
			return nil, fmt.Errorf("%d checkpoints stand on each other, no more are possible", maxDepth)
		}
	}
	top, err := overlay.New(l.disk)
	if err != nil {
		return nil, err
	}
	d.top, d.below = top, l // l uses what d used
	return l, nil
}

// restore makes the disk hold what a layer holds.
func (d *Disk) restore(l *layer) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	top, err := overlay.New(l.disk)
	if err != nil {
		return err
	}
	l.users++
	err = errors.Join(d.top.Close(), d.unuse(d.below))
	d.top, d.below = top, l
	return err
}

// drop ends a checkpoint's use of a layer.
func (d *Disk) drop(l *layer) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.unuse(l)
}

// unuse closes layers that nobody uses any more. The caller holds d.mu.
func (d *Disk) unuse(l *layer) error {
	var err error
	for ; l != nil; l = l.below {
		if l.users--; l.users > 0 {
			break
		}
		err = errors.Join(err, l.disk.Close())
	}
	return err
}

// ReadAt reads.
func (d *Disk) ReadAt(p []byte, off int64) (int, error) {
	d.mu.RLock()
	defer d.mu.RUnlock()
	return d.top.ReadAt(p, off)
}

// WriteAt writes.
func (d *Disk) WriteAt(p []byte, off int64) (int, error) {
	d.mu.RLock()
	defer d.mu.RUnlock()
	return d.top.WriteAt(p, off)
}

// Flush does nothing: the content is gone with the process anyhow.
func (d *Disk) Flush() error { return nil }

// Trim makes the range zeros.
func (d *Disk) Trim(off, n uint64) error { return d.Zero(off, n) }

// Zero makes the range zeros.
func (d *Disk) Zero(off, n uint64) error {
	d.mu.RLock()
	defer d.mu.RUnlock()
	return d.top.Zero(off, n)
}

// Size returns the size of the base in bytes.
func (d *Disk) Size() uint64 { return d.base.Size() }

// Close gives up the content. Layers of checkpoints that were not dropped stay.
func (d *Disk) Close() error {
	d.mu.Lock()
	defer d.mu.Unlock()
	err := errors.Join(d.top.Close(), d.unuse(d.below))
	d.below = nil
	return err
}
