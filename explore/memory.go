package explore

import (
	"fmt"

	"fsward/explore/crash"
)

// memory is what a pristine disk holds: a crash.Base, and what a disk is read into.
type memory []byte

var _ crash.Base = memory(nil)

// Size returns the size in bytes.
func (m memory) Size() uint64 { return uint64(len(m)) }

// ReadAt reads.
func (m memory) ReadAt(b []byte, off int64) (int, error) {
	if err := m.bounds(b, off); err != nil {
		return 0, err
	}
	return copy(b, m[off:]), nil
}

// WriteAt writes.
func (m memory) WriteAt(b []byte, off int64) (int, error) {
	if err := m.bounds(b, off); err != nil {
		return 0, err
	}
	return copy(m[off:], b), nil
}

func (m memory) bounds(b []byte, off int64) error {
	if off < 0 || off > int64(len(m)) || len(b) > len(m)-int(off) {
		return fmt.Errorf("%d bytes at %d: outside the disk of %d bytes", len(b), off, len(m))
	}
	return nil
}
