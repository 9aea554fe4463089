package explore

import (
	"fmt"

	"fsward/explore/crash"
)

// A memory is the content of a disk. It is a crash.Base and an io.WriterAt.
type memory []byte

var _ crash.Base = memory(nil)

// Size returns the size in bytes.
func (m memory) Size() uint64 { return uint64(len(m)) }

// ReadAt reads len(b) bytes. All of them must be inside the disk.
func (m memory) ReadAt(b []byte, off int64) (int, error) {
	if err := m.bounds(b, off); err != nil {
		return 0, err
	}
	return copy(b, m[off:]), nil
}

// WriteAt writes b. All of it must be inside the disk.
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
