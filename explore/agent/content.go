package agent

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"io"
	"os"

	"golang.org/x/sys/unix"
)

// readFile sets the fields of an entry that describe the contents of a regular file. It does not
// change the access time.
func (e *Entry) readFile(path string) error {
	f, err := os.OpenFile(path, os.O_RDONLY|unix.O_NOATIME, 0)
	if err != nil {
		return err
	}
	defer f.Close()
	h := sha256.New()
	if _, err := io.Copy(h, f); err != nil {
		return err
	}
	h.Sum(e.Sum[:0])
	e.InHole, err = dataInHole(f, int64(e.Size))
	return err
}

// dataInHole returns one more than the offset of the first byte of a file other than zero that
// lseek(2) says is in a hole; 0: there is none. Holes are "a sequence of zeros" (lseek(2)).
func dataInHole(f *os.File, size int64) (uint64, error) {
	for at := int64(0); at < size; {
		data, err := unix.Seek(int(f.Fd()), at, unix.SEEK_DATA)
		switch {
		case errors.Is(err, unix.ENXIO): // the rest is a hole
			data = size
		case err != nil:
			return 0, nil //nolint:nilerr // the file system lacks it
		}
		if off, err := firstByte(f, at, data); off > 0 || err != nil {
			return off, err
		}
		if data >= size {
			break
		}
		if at, err = unix.Seek(int(f.Fd()), data, unix.SEEK_HOLE); err != nil || at <= data {
			return 0, nil //nolint:nilerr // so it does; the contents were read
		}
	}
	return 0, nil
}

// firstByte returns one more than the offset of the first byte in a range of a file that is not
// zero; 0: there is none.
func firstByte(f *os.File, from, to int64) (uint64, error) {
	b := make([]byte, min(max(to-from, 0), 64<<10))
	for from < to {
		n, err := f.ReadAt(b[:min(int64(len(b)), to-from)], from)
		if rest := bytes.TrimLeft(b[:n], "\x00"); len(rest) > 0 {
			return uint64(from) + uint64(n-len(rest)) + 1, nil
		}
		if err != nil || n == 0 {
			if errors.Is(err, io.EOF) {
				err = nil
			}
			return 0, err
		}
		from += int64(n)
	}
	return 0, nil
}
