package agent

import (
	"errors"

	"golang.org/x/sys/unix"
)

// FillDisk allocates all free space of a file system to a file, which it makes, and forces it to
// the disk. The file stays empty. It needs fallocate(2).
func FillDisk(path string) Op { return Op{Code: opFillDisk, s: path} }

// FreeDisk removes the file of FillDisk.
func FreeDisk(path string) Op { return Op{Code: opFreeDisk, s: path} }

// The sizes of the first and the last allocation of FillDisk, in bytes. The last one is the
// smallest block that a file system has.
const (
	firstAllocation = 1 << 30
	lastAllocation  = 512
)

// fillDisk performs FillDisk.
func fillDisk(path string) error {
	fd, err := unix.Open(path, unix.O_WRONLY|unix.O_CREAT|unix.O_CLOEXEC, 0o600)
	if errors.Is(err, unix.ENOSPC) {
		return nil // it is full
	}
	if err != nil {
		return err
	}
	off := int64(0)
	for n := int64(firstAllocation); n >= lastAllocation; {
		switch err := unix.Fallocate(fd, unix.FALLOC_FL_KEEP_SIZE, off, n); {
		case err == nil:
			off += n
		case errors.Is(err, unix.ENOSPC):
			n /= 2
		default:
			return errors.Join(err, unix.Close(fd))
		}
	}
	return errors.Join(unix.Fsync(fd), unix.Close(fd))
}
