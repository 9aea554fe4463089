// Package testimage makes the file systems that repair programs are tested on, and keeps them.
//
// Build makes an image with the tree of SWIFT's table 4: a block and a character device, a FIFO, a
// file of 278 blocks, a symbolic and a hard link, a nested directory, and 100 empty files.
package testimage

import (
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/google/renameio/v2"
	"github.com/klauspost/compress/zstd"
	"golang.org/x/sys/unix"
)

// maxImage bounds an image, in bytes.
const maxImage = 4 << 30

// An Image is the contents of a disk, of which most may be holes. It is not changed. Several
// goroutines may read it.
type Image struct {
	data    []byte
	extents []extent
}

type extent struct{ off, end int64 }

// Open reads an image from a file.
func Open(path string) (*Image, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	st, err := f.Stat()
	if err != nil {
		return nil, err
	}
	if !st.Mode().IsRegular() || st.Size() == 0 || st.Size() > maxImage {
		return nil, fmt.Errorf("%s: an image is a file of 1 byte to %d GiB", path, maxImage>>30)
	}
	m := &Image{}
	if m.extents, err = readExtents(f, st.Size()); err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	m.data, err = unix.Mmap(int(f.Fd()), 0, int(st.Size()), unix.PROT_READ, unix.MAP_PRIVATE)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return m, nil
}

// readExtents lists the parts of a file that are no holes.
func readExtents(f *os.File, size int64) (list []extent, err error) {
	for at := int64(0); at < size; {
		var e extent
		if e.off, err = unix.Seek(int(f.Fd()), at, unix.SEEK_DATA); errors.Is(err, unix.ENXIO) {
			return list, nil
		} else if err != nil {
			return nil, err
		}
		if e.end, err = unix.Seek(int(f.Fd()), e.off, unix.SEEK_HOLE); err != nil {
			return nil, err
		}
		list, at = append(list, e), e.end
	}
	return list, nil
}

// Close frees the image.
func (m *Image) Close() error { return unix.Munmap(m.data) }

// Size returns the size in bytes.
func (m *Image) Size() uint64 { return uint64(len(m.data)) }

// ReadAt reads from the image.
func (m *Image) ReadAt(p []byte, off int64) (int, error) {
	if off < 0 || off > int64(len(m.data)) {
		return 0, fmt.Errorf("offset %d lies outside the image", off)
	}
	n := copy(p, m.data[off:])
	if n < len(p) {
		return n, io.EOF
	}
	return n, nil
}

// CopyTo makes the contents of a file those of the image, with the same holes.
func (m *Image) CopyTo(f *os.File) error {
	if err := errors.Join(f.Truncate(0), f.Truncate(int64(len(m.data)))); err != nil {
		return err
	}
	for _, e := range m.extents {
		if _, err := f.WriteAt(m.data[e.off:e.end], e.off); err != nil {
			return err
		}
	}
	return nil
}

// Save writes the image to a new file, compressed with zstd. After a crash, the file is whole or
// absent. The error is os.ErrExist if there is one.
func (m *Image) Save(path string) (err error) {
	if _, err := os.Lstat(path); err == nil {
		return &os.PathError{Op: "create", Path: path, Err: os.ErrExist}
	}
	f, err := renameio.NewPendingFile(path, renameio.WithPermissions(0o644))
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.Cleanup()) }()
	w, err := zstd.NewWriter(f, zstd.WithWindowSize(8<<20))
	if err != nil {
		return err
	}
	_, err = w.Write(m.data)
	if err = errors.Join(err, w.Close()); err != nil {
		return err
	}
	return f.CloseAtomicallyReplace()
}

// Load reads an image that Save wrote. Its bytes are in an unnamed file until Close.
func Load(path, tmp string) (*Image, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	r, err := zstd.NewReader(f, zstd.WithDecoderMaxMemory(64<<20))
	if err != nil {
		return nil, err
	}
	defer r.Close()
	out, err := os.CreateTemp(tmp, "fsward-image-")
	if err != nil {
		return nil, err
	}
	defer out.Close()
	defer os.Remove(out.Name())
	if err := unpack(out, r); err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return Open(out.Name())
}

// unpack writes the bytes of r to a file, and leaves holes for zeros.
func unpack(f *os.File, r io.Reader) error {
	buf, zeros := make([]byte, 64<<10), make([]byte, 64<<10)
	for at := int64(0); ; {
		n, err := io.ReadFull(r, buf)
		if at += int64(n); at > maxImage {
			return fmt.Errorf("an image of more than %d GiB", maxImage>>30)
		}
		if string(buf[:n]) != string(zeros[:n]) {
			if _, err := f.WriteAt(buf[:n], at-int64(n)); err != nil {
				return err
			}
		}
		switch {
		case errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF):
			return f.Truncate(at)
		case err != nil:
			return err
		}
	}
}
