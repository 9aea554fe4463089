package oracle

import (
	"fmt"
	"io"

	"fsward/explore/crash"
	"fsward/interp"
)

// A Window is the part of a disk that a volume has, such as a partition. The zero value is the
// whole disk.
type Window struct {
	Off  uint64 `json:"off"`  // bytes, a multiple of crash.PageSize
	Size uint64 `json:"size"` // bytes; 0: to the end of the disk
}

// check returns an error if the window does not lie on a disk of size bytes, or is not aligned.
func (w Window) check(size uint64) error {
	if w.Off%crash.PageSize != 0 {
		return fmt.Errorf("the volume begins at byte %d, which is no multiple of %d", w.Off,
			crash.PageSize)
	}
	if w.Off > size || w.Size > size-w.Off {
		return fmt.Errorf("the volume of %d bytes at %d is not on the disk of %d bytes", w.Size, w.Off,
			size)
	}
	return nil
}

// Of returns the part of a disk that the window shows.
func (w Window) Of(d interp.Disk) interp.Disk {
	if w == (Window{}) {
		return d
	}
	size := w.Size
	if size == 0 {
		size = d.Size() - w.Off
	}
	return &windowed{io.NewSectionReader(d, int64(w.Off), int64(size))}
}

// windowed is a part of a disk.
type windowed struct{ *io.SectionReader }

// Size returns the size of the part in bytes.
func (w *windowed) Size() uint64 { return uint64(w.SectionReader.Size()) }
