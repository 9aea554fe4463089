package guest

import (
	"errors"
	"fmt"
	"sync"

	"fsward/blocktap"
	"fsward/blocktap/overlay"
)

// maxDepth bounds the layers below a disk. Each layer makes reading a little slower.
const maxDepth = 64

// A layer holds the changes of a disk between the checkpoint below and its own checkpoint. It is
// immutable.
type layer struct {
	disk  *overlay.Disk
	below *layer // nil: the layer stands on the base
	depth int    // number of layers below
	users int    // references: the checkpoint, the layers above, and the Disk
}

// A Disk is a disk of a guest. It consists of overlays on a read-only base, so that saving and
// restoring its content takes a constant time. It is safe for concurrent use.
type Disk struct {
	base overlay.Base

	mu    sync.RWMutex  // write-locked while top is replaced
	top   *overlay.Disk // the changes since the last checkpoint
	below *layer        // the layer below top; nil: the base
}

var _ blocktap.Disk = (*Disk)(nil)

// NewDisk returns a disk with the content of base. Closing it does not close the base.
func NewDisk(base overlay.Base) (*Disk, error) {
	top, err := overlay.New(base)
	if err != nil {
		return nil, err
	}
	return &Disk{base: base, top: top}, nil
}

// save makes the present content a layer. The caller holds a reference until it calls drop. save
// fails if the disk would have more than maxDepth layers.
func (d *Disk) save() (*layer, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	l := &layer{disk: d.top, below: d.below, users: 2} // the checkpoint and d
	if d.below != nil {
		if l.depth = d.below.depth + 1; l.depth >= maxDepth {
			return nil, fmt.Errorf("the disk has %d layers of checkpoints, which is the limit", maxDepth)
		}
	}
	top, err := overlay.New(l.disk)
	if err != nil {
		return nil, err
	}
	d.top, d.below = top, l // l takes over d's reference to the layer below it
	return l, nil
}

// restore restores the content of a layer.
func (d *Disk) restore(l *layer) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	top, err := overlay.New(l.disk)
	if err != nil {
		return err
	}
	l.users++
	err = errors.Join(d.top.Close(), d.release(d.below))
	d.top, d.below = top, l
	return err
}

// drop releases a checkpoint's reference to a layer.
func (d *Disk) drop(l *layer) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.release(l)
}

// release releases a reference to a layer, and closes the layers that have none left. The caller
// holds d.mu.
func (d *Disk) release(l *layer) error {
	var err error
	for ; l != nil; l = l.below {
		if l.users--; l.users > 0 {
			break
		}
		err = errors.Join(err, l.disk.Close())
	}
	return err
}

// ReadAt implements io.ReaderAt.
func (d *Disk) ReadAt(p []byte, off int64) (int, error) {
	d.mu.RLock()
	defer d.mu.RUnlock()
	return d.top.ReadAt(p, off)
}

// WriteAt implements io.WriterAt.
func (d *Disk) WriteAt(p []byte, off int64) (int, error) {
	d.mu.RLock()
	defer d.mu.RUnlock()
	return d.top.WriteAt(p, off)
}

// Flush does nothing: the content does not outlive the process.
func (d *Disk) Flush() error { return nil }

// Trim fills n bytes at off with zeros.
func (d *Disk) Trim(off, n uint64) error { return d.Zero(off, n) }

// Zero fills n bytes at off with zeros.
func (d *Disk) Zero(off, n uint64) error {
	d.mu.RLock()
	defer d.mu.RUnlock()
	return d.top.Zero(off, n)
}

// Size returns the size of the base in bytes.
func (d *Disk) Size() uint64 { return d.base.Size() }

// Close drops the content. The layers of checkpoints stay until they are dropped.
func (d *Disk) Close() error {
	d.mu.Lock()
	defer d.mu.Unlock()
	err := errors.Join(d.top.Close(), d.release(d.below))
	d.below = nil
	return err
}
