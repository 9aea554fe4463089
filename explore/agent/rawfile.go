package agent

import (
	"io"

	"golang.org/x/sys/unix"
)

// A rawFile is an open file without Go's poller, for which os.OpenFile makes four more system
// calls. A system call is dear in user-mode Linux, and a tree has many files.
type rawFile int

// An opened file has a descriptor.
type opened interface{ Fd() uintptr }

// openRaw opens a file for reading, with more flags of open(2).
func openRaw(path string, flags int) (rawFile, error) {
	for {
		fd, err := unix.Open(path, unix.O_RDONLY|unix.O_CLOEXEC|unix.O_LARGEFILE|flags, 0)
		if err != unix.EINTR {
			return rawFile(fd), err
		}
	}
}

// Fd returns the file descriptor.
func (f rawFile) Fd() uintptr { return uintptr(f) }

// Close closes the file.
func (f rawFile) Close() error { return unix.Close(int(f)) }

// ReadAt is io.ReaderAt by pread(2).
func (f rawFile) ReadAt(b []byte, off int64) (done int, err error) {
	for done < len(b) {
		n, err := unix.Pread(int(f), b[done:], off+int64(done))
		switch {
		case err == unix.EINTR:
		case err != nil:
			return done, err
		case n == 0:
			return done, io.EOF
		default:
			done += n
		}
	}
	return done, nil
}

// direntBytes is how much of a directory one call reads.
const direntBytes = 32 << 10

// names returns the names in a directory but for "." and "..", in its order.
func (f rawFile) names() (names []string, err error) {
	b := make([]byte, direntBytes)
	for {
		n, err := unix.ReadDirent(int(f), b)
		switch {
		case err == unix.EINTR:
			continue
		case err != nil || n == 0:
			return names, err
		}
		for rest := b[:n]; len(rest) > 0; {
			used, _, more := unix.ParseDirent(rest, -1, names)
			if used == 0 {
				return more, unix.EIO
			}
			rest, names = rest[used:], more
		}
	}
}
