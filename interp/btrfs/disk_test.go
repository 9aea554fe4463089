package btrfs_test

import (
	"bytes"
	"errors"
	"io"
	"os"
	"path/filepath"
	"testing"

	"github.com/klauspost/compress/zstd"
	"golang.org/x/sys/unix"

	"fsward/blocktap"
	"fsward/blocktap/trace"
	"fsward/interp"
)

// A sparseDisk is a disk in memory that stores only pages with nonzero bytes.
type sparseDisk struct {
	size  uint64
	pages map[uint64]*[pageSize]byte
}

const pageSize = 4096

func newSparseDisk(size uint64) *sparseDisk {
	return &sparseDisk{size: size, pages: make(map[uint64]*[pageSize]byte)}
}

func (d *sparseDisk) Size() uint64 { return d.size }

func (d *sparseDisk) ReadAt(p []byte, off int64) (int, error) {
	for n := 0; n < len(p); {
		at := uint64(off) + uint64(n)
		if at >= d.size {
			return n, io.EOF
		}
		m := int(min(uint64(len(p)-n), pageSize-at%pageSize, d.size-at))
		if page := d.pages[at/pageSize]; page != nil {
			copy(p[n:n+m], page[at%pageSize:])
		} else {
			clear(p[n : n+m])
		}
		n += m
	}
	return len(p), nil
}

func (d *sparseDisk) WriteAt(p []byte, off int64) (int, error) {
	for n := 0; n < len(p); {
		at := uint64(off) + uint64(n)
		m := int(min(uint64(len(p)-n), pageSize-at%pageSize))
		page := d.pages[at/pageSize]
		if page == nil && !allZero(p[n:n+m]) {
			page = new([pageSize]byte)
			d.pages[at/pageSize] = page
		}
		if page != nil {
			copy(page[at%pageSize:], p[n:n+m])
		}
		n += m
	}
	return len(p), nil
}

func (d *sparseDisk) apply(w interp.Write) {
	if w.Data != nil {
		_, _ = d.WriteAt(w.Data, int64(w.Off))
		return
	}
	for at := w.Off; at < w.Off+w.Len; {
		m := min(w.Off+w.Len-at, pageSize-at%pageSize)
		if page := d.pages[at/pageSize]; page != nil {
			clear(page[at%pageSize : at%pageSize+m])
		}
		at += m
	}
}

// clone returns a copy of the disk.
func (d *sparseDisk) clone() *sparseDisk {
	c := newSparseDisk(d.size)
	for i, p := range d.pages {
		page := *p
		c.pages[i] = &page
	}
	return c
}

var zeros [1 << 16]byte

func allZero(b []byte) bool {
	for len(b) > len(zeros) {
		if !bytes.Equal(b[:len(zeros)], zeros[:]) {
			return false
		}
		b = b[len(zeros):]
	}
	return bytes.Equal(b, zeros[:len(b)])
}

// readDisk reads an image from a stream.
func readDisk(t testing.TB, r io.Reader) *sparseDisk {
	t.Helper()
	d := newSparseDisk(1 << 62)
	buf := make([]byte, 1<<20)
	off := uint64(0)
	for {
		n, err := io.ReadFull(r, buf)
		_, _ = d.WriteAt(buf[:n], int64(off))
		off += uint64(n)
		if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
			d.size = off
			return d
		}
		if err != nil {
			t.Fatal(err)
		}
	}
}

// eachData visits the parts of a file that are not holes, in pieces of at most 1 MiB that begin at
// a page. A piece is valid until visit returns.
func eachData(t testing.TB, f *os.File, visit func(piece []byte, off int64)) {
	t.Helper()
	buf := make([]byte, 1<<20)
	for off := int64(0); ; {
		data, err := unix.Seek(int(f.Fd()), off, unix.SEEK_DATA)
		if errors.Is(err, unix.ENXIO) {
			return
		}
		if err != nil {
			t.Fatal(err)
		}
		off = data / pageSize * pageSize
		n, err := f.ReadAt(buf, off)
		if err != nil && !errors.Is(err, io.EOF) {
			t.Fatal(err)
		}
		visit(buf[:n], off)
		if off += int64(n); n == 0 {
			return
		}
	}
}

// openDisk reads an image file, which may be compressed.
func openDisk(t testing.TB, path string) *sparseDisk {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if filepath.Ext(path) == ".zst" {
		z, err := zstd.NewReader(f)
		if err != nil {
			t.Fatal(err)
		}
		defer z.Close()
		return readDisk(t, z)
	}
	st, err := f.Stat()
	if err != nil {
		t.Fatal(err)
	}
	d := newSparseDisk(uint64(st.Size()))
	eachData(t, f, func(piece []byte, off int64) { _, _ = d.WriteAt(piece, off) })
	return d
}

// eachWrite reads a log. It calls show for each change of the disk until show returns false, and
// flush for each flush with the number of the last change before it.
func eachWrite(t testing.TB, path string, show func(w interp.Write) bool, flush func(seq uint64)) {
	t.Helper()
	seq := uint64(0)
	log, err := trace.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer log.Close()
	for {
		e, err := log.Next()
		if errors.Is(err, io.EOF) {
			return
		}
		if err != nil {
			t.Fatal(err)
		}
		r, ok := e.Request()
		if !ok {
			continue
		}
		if r.Op == blocktap.OpFlush {
			flush(seq)
			continue
		}
		seq++
		w := interp.Write{Off: r.Off, Len: r.Len}
		if !r.FUA {
			w.Seq = seq
		}
		switch r.Op {
		case blocktap.OpWrite:
			w.Data = bytes.Clone(r.Data)
		case blocktap.OpTrim:
			w.Discard = true
		case blocktap.OpZero:
		default:
			continue
		}
		if !show(w) {
			return
		}
	}
}
