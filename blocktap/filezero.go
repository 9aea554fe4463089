package blocktap

import (
	"errors"
	"io"
	"sync/atomic"

	"golang.org/x/sys/unix"
)

// zeroChunk is the largest size in bytes of one write of zeros.
const zeroChunk = 1 << 20

// Trim deallocates the space of a range if the file system or device below supports that, and does
// nothing otherwise. The content of a trimmed range is undefined.
func (d *file) Trim(off, n uint64) error {
	if err := d.writable(int64(off), n); err != nil || n == 0 {
		return err
	}
	_, err := d.fallocate(&d.noPunch, unix.FALLOC_FL_PUNCH_HOLE, off, n)
	return err
}

// Zero makes a range read as zeros and deallocates its space where that is possible.
func (d *file) Zero(off, n uint64) error {
	if err := d.writable(int64(off), n); err != nil || n == 0 {
		return err
	}
	done, err := d.fallocate(&d.noPunch, unix.FALLOC_FL_PUNCH_HOLE, off, n)
	if done || err != nil {
		return err
	}
	return d.ZeroReserved(off, n)
}

// ZeroReserved makes a range read as zeros and keeps its space allocated.
func (d *file) ZeroReserved(off, n uint64) error {
	if err := d.writable(int64(off), n); err != nil || n == 0 {
		return err
	}
	done, err := d.fallocate(&d.noZeroRange, unix.FALLOC_FL_ZERO_RANGE, off, n)
	if done || err != nil {
		return err
	}
	return writeZeros(d.f, off, n)
}

// fallocate changes the allocation of a range. done is false if the file system or device does not
// support the mode. On a block device the kernel turns both modes into commands of the device
// (blkdev_fallocate) and returns EINVAL for a range that is not aligned to the device's blocks.
func (d *file) fallocate(unsupported *atomic.Bool, mode uint32, off, n uint64) (
	done bool, err error) {
	if unsupported.Load() {
		return false, nil
	}
	err = d.control(func(fd int) error {
		return ignoringEINTR(func() error {
			return unix.Fallocate(fd, mode|unix.FALLOC_FL_KEEP_SIZE, int64(off), int64(n))
		})
	})
	switch {
	case err == nil:
		return true, nil
	case errors.Is(err, unix.EOPNOTSUPP), errors.Is(err, unix.ENOSYS), errors.Is(err, unix.ENODEV):
		unsupported.Store(true)
		return false, nil
	case errors.Is(err, unix.EINVAL):
		return false, nil
	default:
		return false, err
	}
}

// writeZeros writes n zero bytes at off, at most zeroChunk bytes at a time.
func writeZeros(w io.WriterAt, off, n uint64) error {
	zeros := make([]byte, min(n, zeroChunk))
	for n > 0 {
		piece := zeros[:min(n, zeroChunk)]
		if _, err := w.WriteAt(piece, int64(off)); err != nil {
			return err
		}
		off += uint64(len(piece))
		n -= uint64(len(piece))
	}
	return nil
}

// Extents finds data and holes with SEEK_DATA and SEEK_HOLE. If the file system does not support
// these, the whole range is data.
func (d *file) Extents(off, n uint64) ([]Extent, error) {
	if err := d.bounds(int64(off), n); err != nil || n == 0 {
		return nil, err
	}
	var runs []Extent
	for end := off + n; off < end && len(runs) < MaxExtents; {
		data, ok, err := d.seek(off, unix.SEEK_DATA, end)
		if err != nil {
			return nil, err
		}
		if !ok {
			return append(runs, Extent{Len: end - off}), nil
		}
		if data > off {
			runs = append(runs, Extent{Len: data - off, Hole: true})
			off = data
			continue
		}
		hole, ok, err := d.seek(off, unix.SEEK_HOLE, end)
		if err != nil {
			return nil, err
		}
		// A hole at off means that the file changed between the two calls. Report one sector of data,
		// so that the loop makes progress.
		if !ok || hole <= off {
			hole = min(off+SectorSize, end)
		}
		runs = append(runs, Extent{Len: hole - off})
		off = hole
	}
	return runs, nil
}

// seek returns the position of the next data or hole at or after off, but at most end. If the file
// has no more data (ENXIO), it returns end. ok is false if the file system does not support whence.
func (d *file) seek(off uint64, whence int, end uint64) (pos uint64, ok bool, err error) {
	if d.noSeek.Load() {
		return 0, false, nil
	}
	at, err := d.f.Seek(int64(off), whence)
	switch {
	case err == nil:
		return min(uint64(at), end), true, nil
	case errors.Is(err, unix.ENXIO):
		return end, true, nil
	case errors.Is(err, unix.EINVAL), errors.Is(err, unix.EOPNOTSUPP):
		d.noSeek.Store(true)
		return 0, false, nil
	default:
		return 0, false, err
	}
}
