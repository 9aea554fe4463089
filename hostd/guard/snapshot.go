package guard

import (
	"context"
	"errors"
	"fmt"

	"fsward/blocktap/overlay"
	"fsward/interp"
)

// maxKept bounds the old contents that are kept of one disk, in bytes of a temporary file.
const maxKept = 1 << 30

var errMoved = errors.New("the guest has overwritten more of its old metadata than can be kept")

// A snapshot is a disk as it was at one moment, while its guest goes on writing. Before a write
// replaces contents that the snapshot needs, keep copies them.
type snapshot struct {
	disk  *overlay.Disk
	start uint64                    // where the disk begins in the guard's addresses
	needs func(addr, n uint64) bool // nil: all of the disk may be read
	limit uint64                    // bound of the old contents that are kept, bytes
	fail  context.CancelCauseFunc   // is called when reads no longer return the state of that moment
}

// keep copies what a write is about to replace. It is called before the write is performed.
func (s *snapshot) keep(w interp.Write) {
	if w.Len == 0 || s.needs != nil && !s.needs(w.Off, w.Len) {
		return
	}
	if err := s.disk.Keep(w.Off-s.start, w.Len); err != nil {
		s.fail(fmt.Errorf("cannot keep what the guest overwrites: %w", err))
	} else if s.disk.Changed() > s.limit {
		s.fail(errMoved)
	}
}

// A throttledDisk rests between reads.
type throttledDisk struct {
	*overlay.Disk
	throttle *throttle
}

func (d throttledDisk) ReadAt(p []byte, off int64) (int, error) {
	if err := d.throttle.rest(); err != nil {
		return 0, err
	}
	return d.Disk.ReadAt(p, off)
}
