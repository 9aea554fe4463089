package agent

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"io"
	"math"

	"golang.org/x/sys/unix"
)

// A contentReader reads the contents of the regular files of a tree, each inode once.
type contentReader struct {
	buf  []byte
	read map[Entry]Entry // from an inode with several names, without a name, to one with its contents
}

func newContentReader() *contentReader {
	return &contentReader{make([]byte, 64<<10), make(map[Entry]Entry)}
}

// describe sets the fields of the entry of a file that describe its contents. Names that lstat(2)
// describes alike are of one inode, which has one content.
func (r *contentReader) describe(e *Entry, path string) {
	inode := *e
	inode.Path = ""
	if known, ok := r.read[inode]; ok {
		e.Sum, e.InHole, e.Flags, e.Errno = known.Sum, known.InHole, known.Flags, known.Errno
		return
	}
	e.Errno = errnoOf(e.readFile(path, r.buf))
	if e.Links > 1 {
		r.read[inode] = *e
	}
}

// readFile sets the fields of a regular file's entry that need it open: its flags, the sum of its
// contents, and data in holes. "A hole is a sequence of zeros" (lseek(2)). It reads the file once,
// and does not change its access time. It overwrites buf.
func (e *Entry) readFile(path string, buf []byte) error {
	f, err := openRaw(path, unix.O_NOATIME)
	if err != nil {
		return err
	}
	defer f.Close()
	sum, hole := sha256.New(), holeReader{}
	for at, more := int64(0), true; more; {
		data, end := nextData(f, at)
		hole.at = at
		for _, part := range []struct {
			to  io.Writer
			end int64
		}{{io.MultiWriter(sum, &hole), data}, {sum, end}} {
			n, err := io.CopyBuffer(part.to, io.NewSectionReader(f, at, part.end-at), buf)
			if err != nil {
				return err
			}
			more = at+n == part.end // else the file ends here
			at += n
		}
	}
	sum.Sum(e.Sum[:0])
	e.Flags = flagsOf(f)
	e.InHole = hole.found
	return nil
}

// nextData returns the ends of the hole that begins at an offset of a file, and of the data behind
// it, as lseek(2) says; all is data if it cannot say.
func nextData(f opened, at int64) (data, end int64) {
	data, err := unix.Seek(int(f.Fd()), at, unix.SEEK_DATA)
	switch {
	case errors.Is(err, unix.ENXIO): // the rest is a hole
		return math.MaxInt64, math.MaxInt64
	case err != nil || data < at:
		return at, math.MaxInt64
	}
	end, err = unix.Seek(int(f.Fd()), data, unix.SEEK_HOLE)
	if err != nil || end <= data {
		return data, math.MaxInt64
	}
	return data, end
}

// A holeReader is a Writer of the bytes of holes. It looks for those that are not zero.
type holeReader struct {
	at    int64  // offset in the file of the next byte
	found uint64 // one more than that of the first byte other than zero; 0: there was none
}

// Write never fails.
func (h *holeReader) Write(b []byte) (int, error) {
	if rest := bytes.TrimLeft(b, "\x00"); len(rest) > 0 && h.found == 0 {
		h.found = uint64(h.at) + uint64(len(b)-len(rest)) + 1
	}
	h.at += int64(len(b))
	return len(b), nil
}
