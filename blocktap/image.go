package blocktap

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/klauspost/compress/zstd"
)

const (
	// maxImage is the largest size in bytes of a decompressed image. maxImageData is the largest
	// number of bytes of it that may be stored; blocks of zeros are not stored.
	maxImage     = 16 << 40
	maxImageData = 64 << 30
	// imageBlock is the size in bytes of the blocks that become holes if they are all zeros.
	imageBlock = 64 << 10
	// zstdWindow bounds the memory of decompression. It is zstd's own limit without --long=31.
	zstdWindow = 128 << 20
)

// CheckKind returns an error if a path is neither a regular file nor a block device, without
// opening it: to open a FIFO waits for its writer.
func CheckKind(path string) error {
	st, err := os.Stat(path)
	if err != nil {
		return err
	}
	mode := st.Mode()
	if !mode.IsRegular() && (mode&os.ModeDevice == 0 || mode&os.ModeCharDevice != 0) {
		return fmt.Errorf("%s is neither a regular file nor a block device", path)
	}
	return nil
}

// OpenImage opens an image for reading: a raw file, a block device, or a file that is compressed
// with zstd or gzip. It decompresses into a temporary file without a name, in which blocks of zeros
// are holes.
func OpenImage(path string) (Disk, error) {
	if err := CheckKind(path); err != nil {
		return nil, err
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	plain, compressed, err := Decompress(f)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	defer plain.Close()
	if !compressed {
		return OpenFile(path, FileOptions{ReadOnly: true})
	}
	tmp, err := unpack(plain)
	if err != nil {
		return nil, fmt.Errorf("%s: unpacking: %w", path, err)
	}
	d, err := newFile(tmp, true)
	if err != nil {
		_ = tmp.Close()
		return nil, fmt.Errorf("%s: unpacked: %w", path, err)
	}
	d.path = path + " (unpacked)"
	return d, nil
}

// Decompress returns the content of r, decompressed if it begins with the magic number of zstd or
// gzip. The caller closes plain, which does not close r.
func Decompress(r io.Reader) (plain io.ReadCloser, compressed bool, err error) {
	b := bufio.NewReaderSize(r, 256<<10)
	head, err := b.Peek(4)
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, false, err
	}
	switch {
	case bytes.HasPrefix(head, []byte{0x28, 0xb5, 0x2f, 0xfd}): // RFC 8878, 3.1.1
		dec, err := zstd.NewReader(b,
			zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxWindow(zstdWindow))
		if err != nil {
			return nil, true, err
		}
		return dec.IOReadCloser(), true, nil
	case bytes.HasPrefix(head, []byte{0x1f, 0x8b}): // RFC 1952, 2.3.1
		dec, err := gzip.NewReader(b)
		if err != nil {
			return nil, true, err
		}
		return dec, true, nil
	}
	return io.NopCloser(b), false, nil
}

// unpack stores a stream in a sparse temporary file without a name.
func unpack(r io.Reader) (*os.File, error) {
	f, err := TempFile()
	if err != nil {
		return nil, err
	}
	size, err := copySparse(f, r)
	if err == nil {
		err = f.Truncate(size)
	}
	if err != nil {
		_ = f.Close()
		return nil, err
	}
	return f, nil
}

// TempFile creates an empty file without a name in the directory for temporary files. The kernel
// frees its space when it is closed, also if the process is killed.
func TempFile() (*os.File, error) {
	f, err := os.CreateTemp("", "fsward-")
	if err != nil {
		return nil, err
	}
	if err := os.Remove(f.Name()); err != nil {
		_ = f.Close()
		return nil, err
	}
	return f, nil
}

// copySparse copies a stream and skips blocks of zeros. It returns the length of the stream.
func copySparse(w io.WriterAt, r io.Reader) (size int64, err error) {
	var stored int64
	buf, zeros := make([]byte, imageBlock), make([]byte, imageBlock)
	for {
		n, err := fill(r, buf)
		if !bytes.Equal(buf[:n], zeros[:n]) {
			if _, err := w.WriteAt(buf[:n], size); err != nil {
				return 0, err
			}
			stored += int64(n)
		}
		size += int64(n)
		switch {
		case errors.Is(err, io.EOF):
			return size, nil
		case err != nil:
			return 0, err
		case size > maxImage || stored > maxImageData:
			return 0, fmt.Errorf("more than %d bytes, or more than %d bytes that are not zeros",
				int64(maxImage), int64(maxImageData))
		}
	}
}

// fill reads until buf is full or r fails. Unlike io.ReadFull it returns r's own error, so that the
// caller can distinguish the end of a stream (EOF) from a truncated stream (ErrUnexpectedEOF).
func fill(r io.Reader, buf []byte) (n int, err error) {
	for n < len(buf) && err == nil {
		var m int
		m, err = r.Read(buf[n:])
		n += m
	}
	return n, err
}
