package blocktap

import (
	"errors"
	"fmt"
	"io"
	"os"
	"sync"
	"sync/atomic"

	"golang.org/x/sys/unix"
)

// FileOptions are the options of OpenFile.
type FileOptions struct {
	ReadOnly bool
}

// file is a Disk on a raw file or a block device. Its size is fixed when it is opened.
type file struct {
	f        *os.File
	path     string
	size     uint64
	readOnly bool

	// Set once the file system or device below has answered that it does not support the operation.
	noPunch, noZeroRange, noSeek atomic.Bool

	mu       sync.Mutex
	flushErr error // the first failure of fdatasync
}

// OpenFile opens a raw file or a block device as a disk. A disk that is open for writing holds an
// exclusive lock, a read-only disk a shared lock. If another process holds a conflicting lock, for
// example because it serves the disk or runs a virtual machine from it, the error is a *BusyError.
// As on a loop device, bytes after the last whole sector are not accessible.
func OpenFile(path string, opt FileOptions) (Disk, error) {
	st, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	flags := os.O_RDWR
	if opt.ReadOnly {
		flags = os.O_RDONLY
	}
	switch mode := st.Mode(); {
	case mode.IsRegular():
	case mode&os.ModeDevice != 0 && mode&os.ModeCharDevice == 0:
		if !opt.ReadOnly {
			flags |= unix.O_EXCL // fails while the host has the block device mounted
		}
	default:
		return nil, fmt.Errorf("%s is neither a regular file nor a block device", path)
	}
	f, err := os.OpenFile(path, flags, 0)
	if errors.Is(err, unix.EBUSY) {
		return nil, &BusyError{Path: path, Holder: "the host (is it mounted?)"}
	}
	if err != nil {
		return nil, err
	}
	d, err := newFile(f, opt.ReadOnly)
	if err != nil {
		_ = f.Close() // report the first error
		return nil, err
	}
	return d, nil
}

func newFile(f *os.File, readOnly bool) (*file, error) {
	if err := lock(f, !readOnly); err != nil {
		return nil, err
	}
	end, err := f.Seek(0, io.SeekEnd) // works for block devices too
	if err != nil {
		return nil, err
	}
	size := uint64(end) / SectorSize * SectorSize
	if size == 0 {
		return nil, fmt.Errorf("%s: %d bytes are too few for a disk", f.Name(), end)
	}
	return &file{f: f, path: f.Name(), size: size, readOnly: readOnly}, nil
}

func (d *file) Size() uint64 { return d.size }

// Close releases the lock. It does not flush.
func (d *file) Close() error { return d.f.Close() }

func (d *file) ReadAt(p []byte, off int64) (int, error) {
	if err := d.bounds(off, uint64(len(p))); err != nil {
		return 0, err
	}
	n, err := d.f.ReadAt(p, off)
	if errors.Is(err, io.EOF) {
		err = fmt.Errorf("%s: ends at %d, it had %d bytes when it was opened",
			d.path, off+int64(n), d.size)
	}
	return n, err
}

func (d *file) WriteAt(p []byte, off int64) (int, error) {
	if err := d.writable(off, uint64(len(p))); err != nil {
		return 0, err
	}
	return d.f.WriteAt(p, off)
}

// Flush calls fdatasync. After a failure, all later calls return the same error: Linux reports a
// lost write once and then marks the page clean, so that a later success would not mean that the
// data is on the disk.
func (d *file) Flush() error {
	if d.readOnly {
		return nil
	}
	d.mu.Lock()
	err := d.flushErr
	d.mu.Unlock()
	if err != nil {
		return err
	}
	// The lock is not held, so that flushes run in parallel.
	err = d.control(func(fd int) error {
		return ignoringEINTR(func() error { return unix.Fdatasync(fd) })
	})
	if err != nil {
		d.mu.Lock()
		defer d.mu.Unlock()
		if d.flushErr == nil {
			d.flushErr = fmt.Errorf("%s: fdatasync: %w", d.path, err)
		}
		return d.flushErr
	}
	return nil
}

// bounds checks that a range lies within the disk. It never computes off+n, which could overflow.
func (d *file) bounds(off int64, n uint64) error {
	if off < 0 || uint64(off) > d.size || n > d.size-uint64(off) {
		return fmt.Errorf("%s: %d bytes at %d: %w of %d bytes", d.path, n, off, ErrRange, d.size)
	}
	return nil
}

func (d *file) writable(off int64, n uint64) error {
	if d.readOnly {
		return fmt.Errorf("%s: %w", d.path, ErrReadOnly)
	}
	return d.bounds(off, n)
}

// control runs a system call on the descriptor. The descriptor cannot be closed during the call.
func (d *file) control(call func(fd int) error) error {
	raw, err := d.f.SyscallConn()
	if err != nil {
		return err
	}
	var callErr error
	if err := raw.Control(func(fd uintptr) { callErr = call(int(fd)) }); err != nil {
		return err
	}
	return callErr
}

func ignoringEINTR(call func() error) error {
	for {
		if err := call(); !errors.Is(err, unix.EINTR) {
			return err
		}
	}
}
