package ext3

import (
	"encoding/binary"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"

	"fsward/interp"
)

// A MemDisk is a disk over a read-only base. It keeps writes in memory.
type MemDisk struct {
	base  io.ReaderAt
	size  uint64
	pages map[uint64][]byte
}

const page = 4096

func NewDisk(base io.ReaderAt, size uint64) *MemDisk {
	return &MemDisk{base: base, size: size, pages: make(map[uint64][]byte)}
}

func (d *MemDisk) Size() uint64 { return d.size }

func (d *MemDisk) ReadAt(p []byte, off int64) (int, error) {
	if off < 0 || uint64(off) >= d.size {
		return 0, io.EOF
	}
	n := int(min(uint64(len(p)), d.size-uint64(off)))
	if k, err := d.base.ReadAt(p[:n], off); err != nil && !errors.Is(err, io.EOF) {
		return k, err
	} else {
		clear(p[k:n])
	}
	for at := uint64(off) / page * page; at < uint64(off)+uint64(n); at += page {
		if b, ok := d.pages[at]; ok {
			lo := max(at, uint64(off))
			copy(p[lo-uint64(off):n], b[lo-at:])
		}
	}
	if n < len(p) {
		return n, io.EOF
	}
	return n, nil
}

func (d *MemDisk) Apply(w interp.Write) {
	for at := w.Off; at < w.Off+w.Len; {
		start := at / page * page
		b, ok := d.pages[start]
		if !ok {
			b = make([]byte, page)
			d.base.ReadAt(b, int64(start)) //nolint:errcheck // past the end there are zeros
			d.pages[start] = b
		}
		n := min(start+page, w.Off+w.Len) - at
		if w.Data != nil {
			copy(b[at-start:], w.Data[at-w.Off:at-w.Off+n])
		} else if !w.Discard {
			clear(b[at-start : at-start+n])
		}
		at += n
	}
}

var unpacked struct {
	sync.Mutex
	dir  string
	file map[string]string
}

// Unpack unpacks a compressed file once for all tests of the package.
func Unpack(t testing.TB, path string) string {
	t.Helper()
	unpacked.Lock()
	defer unpacked.Unlock()
	if f, ok := unpacked.file[path]; ok {
		return f
	}
	out := filepath.Join(unpacked.dir, filepath.Base(path)+".raw")
	tool, pkg := "zstd", "zstd"
	args := []string{"-qdfo", out, "--sparse", path}
	if filepath.Ext(path) == ".gz" {
		tool, pkg = "sh", "gzip"
		args = []string{"-c", "gzip -dc '" + path + "' | cp --sparse=always /dev/stdin '" + out + "'"}
	}
	if msg, err := exec.Command(tool, args...).CombinedOutput(); err != nil {
		t.Fatalf("cannot unpack %s: %v: %s (Debian package %s)", path, err, msg, pkg)
	}
	unpacked.file[path] = out
	return out
}

func TestMain(m *testing.M) {
	dir, err := os.MkdirTemp("", "ext3-test")
	if err != nil {
		panic(err)
	}
	unpacked.dir, unpacked.file = dir, make(map[string]string)
	code := m.Run()
	os.RemoveAll(dir)
	os.Exit(code)
}

func OpenImage(t testing.TB, path string) *MemDisk {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { f.Close() })
	size, err := f.Seek(0, io.SeekEnd)
	if err != nil {
		t.Fatal(err)
	}
	return NewDisk(f, uint64(size))
}

// writes calls visit for each write of a dm-log-writes log.
func writes(t testing.TB, path string, visit func(interp.Write)) {
	t.Helper()
	_ = EachWrite(t, path, func(w interp.Write) error { visit(w); return nil })
}

// EachWrite is writes, and stops when visit returns an error.
func EachWrite(t testing.TB, path string, visit func(interp.Write) error) error {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	head := make([]byte, 512)
	if _, err := f.ReadAt(head, 0); err != nil {
		t.Fatal(err)
	}
	n, sector := binary.LittleEndian.Uint64(head[16:]), int64(binary.LittleEndian.Uint32(head[24:]))
	at := sector
	for range n {
		if _, err := f.ReadAt(head, at); err != nil {
			t.Fatal(err)
		}
		at += sector
		off, count, flags := binary.LittleEndian.Uint64(head), binary.LittleEndian.Uint64(head[8:]),
			binary.LittleEndian.Uint64(head[16:])
		w := interp.Write{Off: off * uint64(sector), Len: count * uint64(sector)}
		switch {
		case flags&8 != 0: // a mark, whose text is in the sector of the header
			continue
		case flags&4 != 0:
			w.Discard = true
		case count > 0:
			w.Data = make([]byte, w.Len)
			if _, err := f.ReadAt(w.Data, at); err != nil {
				t.Fatal(err)
			}
			at += int64(w.Len)
		}
		if count > 0 {
			if err := visit(w); err != nil {
				return err
			}
		}
	}
	return nil
}

func putBE(b []byte, off int, n uint32) { binary.BigEndian.PutUint32(b[off:], n) }

func ReadFile(t testing.TB, path string) []byte {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return b
}
