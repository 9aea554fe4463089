package guard

import (
	"context"
	"errors"
	"fmt"

	"fsward/blocktap/overlay"
	"fsward/interp"
)

// maxKept bounds what is kept of one disk, bytes in a temporary file.
const maxKept = 1 << 30

var errMoved = errors.New("the guest has rewritten more of its metadata than is kept of the old")

// A frozen is a disk as it was at one moment, while its guest goes on writing: what a write takes from that state
// is kept before.
type snapshot struct {
	disk  *overlay.Disk
	start uint64                    // where the disk begins in the guard's addresses
	needs func(addr, n uint64) bool // nil: all of the disk may be read
	limit uint64                    // bytes that are kept
	fail  context.CancelCauseFunc   // what is read from now on is no longer the state of that moment
}

// keep is called before a write is done.
func (f *snapshot) keep(w interp.Write) {
	if w.Len == 0 || f.needs != nil && !f.needs(w.Off, w.Len) {
		return
	}
	if err := f.disk.Keep(w.Off-f.start, w.Len); err != nil {
		f.fail(fmt.Errorf("what the guest overwrites cannot be kept: %w", err))
	} else if f.disk.Changed() > f.limit {
		f.fail(errMoved)
	}
}

// pacedDisk rests between reads.
type throttledDisk struct {
	*overlay.Disk
	pace *throttle
}

func (d throttledDisk) ReadAt(p []byte, off int64) (int, error) {
	if err := d.pace.rest(); err != nil {
		return 0, err
	}
	return d.Disk.ReadAt(p, off)
}
