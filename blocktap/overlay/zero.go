package overlay

import (
	"errors"
	"fmt"

	"golang.org/x/sys/unix"
)

// Zero zeros a range. Whole blocks become holes in the changes and take no space.
func (d *Disk) Zero(off, n uint64) error {
	if err := d.bounds(off, n); err != nil {
		return err
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	end := off + n
	first, last := (off+blockSize-1)/blockSize*blockSize, end/blockSize*blockSize
	if end == d.size {
		last = (end + blockSize - 1) / blockSize * blockSize // the range covers the last block
	}
	if first >= last {
		return d.writeZeros(off, n)
	}
	if err := d.writeZeros(off, first-off); err != nil {
		return err
	}
	if last < end {
		if err := d.writeZeros(last, end-last); err != nil {
			return err
		}
	}
	return d.punch(first, last)
}

// punch makes the whole blocks from byte first to byte last holes in the changes. If the file
// system does not support that, it writes zeros.
func (d *Disk) punch(first, last uint64) error {
	raw, err := d.changes.SyscallConn()
	if err != nil {
		return err
	}
	var punchErr error
	err = raw.Control(func(fd uintptr) {
		const mode = unix.FALLOC_FL_PUNCH_HOLE | unix.FALLOC_FL_KEEP_SIZE
		punchErr = unix.Fallocate(int(fd), mode, int64(first), int64(last-first))
	})
	err = errors.Join(err, punchErr)
	if errors.Is(err, unix.EOPNOTSUPP) || errors.Is(err, unix.EINTR) {
		return d.writeZeros(first, min(last, d.size)-first)
	}
	if err != nil {
		return fmt.Errorf("overlay: %w", err)
	}
	d.changed.add(first/blockSize, last/blockSize)
	return nil
}

// writeZeros writes n zero bytes at off, at most zeroPiece bytes at a time.
func (d *Disk) writeZeros(off, n uint64) error {
	zeros := make([]byte, min(n, zeroPiece))
	for n > 0 {
		piece := zeros[:min(n, zeroPiece)]
		if _, err := d.write(piece, off); err != nil {
			return err
		}
		off += uint64(len(piece))
		n -= uint64(len(piece))
	}
	return nil
}
