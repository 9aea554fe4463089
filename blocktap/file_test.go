package blocktap

import (
	"bytes"
	"compress/gzip"
	"errors"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/klauspost/compress/zstd"
	"golang.org/x/sys/unix"
)

// sparseFile creates a file of size bytes in which only data at off is allocated.
func sparseFile(t *testing.T, size int64, off int64, data []byte) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "disk.img")
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if err := f.Truncate(size); err != nil {
		t.Fatal(err)
	}
	if _, err := f.WriteAt(data, off); err != nil {
		t.Fatal(err)
	}
	return path
}

func open(t *testing.T, path string, opt FileOptions) *file {
	t.Helper()
	d, err := OpenFile(path, opt)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { d.Close() })
	return d.(*file)
}

func pattern(n int) []byte {
	b := make([]byte, n)
	_, _ = rand.NewChaCha8([32]byte{1}).Read(b) // it never fails
	return b
}

func allocated(t *testing.T, path string) int64 {
	t.Helper()
	var st unix.Stat_t
	if err := unix.Stat(path, &st); err != nil {
		t.Fatal(err)
	}
	return st.Blocks * 512
}

func TestFileServedTwice(t *testing.T) {
	path := sparseFile(t, 1<<20, 0, nil)
	open(t, path, FileOptions{})
	_, err := OpenFile(path, FileOptions{})
	var busy *BusyError
	if !errors.As(err, &busy) || !strings.Contains(err.Error(), path) ||
		!strings.Contains(err.Error(), "this process") {
		t.Errorf("second open: %v", err)
	}
	if _, err := OpenFile(path, FileOptions{ReadOnly: true}); !errors.As(err, &busy) {
		t.Errorf("read-only open of a disk that is open for writing: %v", err)
	}
}

func TestFileLockedByOthers(t *testing.T) {
	path := sparseFile(t, 1<<20, 0, nil)
	// flock(1) holds the lock until its standard input closes.
	holder := exec.Command("flock", "--no-fork", path, "sh", "-c", "echo held; read x")
	in, err := holder.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := holder.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := holder.Start(); err != nil {
		t.Fatalf("flock (package util-linux): %v", err)
	}
	t.Cleanup(func() { in.Close(); _ = holder.Wait() })
	if _, err := io.ReadFull(out, make([]byte, 4)); err != nil {
		t.Fatal(err)
	}
	_, err = OpenFile(path, FileOptions{})
	var busy *BusyError
	if !errors.As(err, &busy) || !strings.Contains(busy.Holder, "process ") {
		t.Errorf("file locked by another process: %v", err)
	}
}

func TestFileReadOnlyIsShared(t *testing.T) {
	data := pattern(4096)
	path := sparseFile(t, 1<<20, 8192, data)
	a, b := open(t, path, FileOptions{ReadOnly: true}), open(t, path, FileOptions{ReadOnly: true})
	for _, d := range []*file{a, b} {
		got := make([]byte, 4096)
		if _, err := d.ReadAt(got, 8192); err != nil || !bytes.Equal(got, data) {
			t.Errorf("read: %v", err)
		}
		if _, err := d.WriteAt(got, 0); !errors.Is(err, ErrReadOnly) {
			t.Errorf("write to a read-only disk: %v", err)
		}
		if err := d.Zero(0, 4096); !errors.Is(err, ErrReadOnly) {
			t.Errorf("zero on a read-only disk: %v", err)
		}
	}
}

func TestFileBounds(t *testing.T) {
	path := sparseFile(t, 1<<20+100, 0, nil)
	d := open(t, path, FileOptions{})
	if d.Size() != 1<<20 {
		t.Errorf("size %d, want whole sectors", d.Size())
	}
	if _, err := d.WriteAt(make([]byte, 1024), 1<<20-512); !errors.Is(err, ErrRange) {
		t.Errorf("write across the end: %v", err)
	}
	if _, err := d.ReadAt(make([]byte, 1024), -512); !errors.Is(err, ErrRange) {
		t.Errorf("read before the start: %v", err)
	}
	if err := d.Trim(1<<63, 1<<63); !errors.Is(err, ErrRange) {
		t.Errorf("trim with an end that overflows: %v", err)
	}
	if err := os.Truncate(path, 4096); err != nil {
		t.Fatal(err)
	}
	if _, err := d.ReadAt(make([]byte, 512), 8192); err == nil || errors.Is(err, io.EOF) {
		t.Errorf("read of a truncated file: %v", err)
	}
}

func TestFileNotADisk(t *testing.T) {
	dir := t.TempDir()
	small := filepath.Join(dir, "small")
	if err := os.WriteFile(small, make([]byte, 511), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{dir, small, "/dev/null", filepath.Join(dir, "none")} {
		if d, err := OpenFile(path, FileOptions{}); err == nil {
			d.Close()
			t.Errorf("%s opened as a disk", path)
		} else if !strings.Contains(err.Error(), path) {
			t.Errorf("error does not name %s: %v", path, err)
		}
	}
}

// TestZero zeros a range in each of the supported ways.
func TestZero(t *testing.T) {
	const size, off, n = 8 << 20, 1<<20 + 512, 4<<20 + 1024
	all := pattern(size)
	want := bytes.Clone(all)
	clear(want[off : off+n])
	for name, run := range map[string]func(d *file) error{
		"punch": func(d *file) error { return d.Zero(off, n) },
		"zero-range": func(d *file) error {
			d.noPunch.Store(true)
			return d.Zero(off, n)
		},
		"writes": func(d *file) error {
			d.noPunch.Store(true)
			d.noZeroRange.Store(true)
			return d.Zero(off, n)
		},
		"reserved": func(d *file) error { return d.ZeroReserved(off, n) },
	} {
		t.Run(name, func(t *testing.T) {
			path := sparseFile(t, size, 0, all)
			before := allocated(t, path)
			d := open(t, path, FileOptions{})
			if err := run(d); err != nil {
				t.Fatal(err)
			}
			if got, err := os.ReadFile(path); err != nil || !bytes.Equal(got, want) {
				t.Errorf("contents differ: %v", err)
			}
			after := allocated(t, path)
			if name == "punch" && after >= before {
				t.Errorf("%d bytes allocated before, %d after: no space was deallocated", before, after)
			}
			if name == "reserved" && after < before {
				t.Errorf("%d bytes allocated before, %d after: space was deallocated", before, after)
			}
		})
	}
}

// TestZeroWhereUnsupported zeros a range on a file system without fallocate. Zero has to write
// zeros.
func TestZeroWhereUnsupported(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x")
	if err := os.WriteFile(path, pattern(1<<20), 0o600); err != nil {
		t.Fatal(err)
	}
	d := open(t, path, FileOptions{})
	// No file system supports INSERT_RANGE together with KEEP_SIZE. The error is EOPNOTSUPP, as on a
	// file system without fallocate.
	done, err := d.fallocate(&d.noPunch, unix.FALLOC_FL_INSERT_RANGE, 0, 4096)
	if done || err != nil || !d.noPunch.Load() {
		t.Fatalf("unsupported fallocate: done %v, %v, remembered %v", done, err, d.noPunch.Load())
	}
	if err := d.Trim(0, 1<<20); err != nil {
		t.Errorf("trim where it is not supported: %v", err)
	}
	if err := d.Zero(0, 1<<20); err != nil {
		t.Error(err)
	}
	if got, _ := os.ReadFile(path); !bytes.Equal(got, make([]byte, 1<<20)) {
		t.Error("not zeros")
	}
}

func TestExtents(t *testing.T) {
	path := sparseFile(t, 1<<20, 256<<10, pattern(64<<10))
	d := open(t, path, FileOptions{})
	got, err := d.Extents(0, 1<<20)
	want := []Extent{{Len: 256 << 10, Hole: true}, {Len: 64 << 10}, {Len: 704 << 10, Hole: true}}
	if err != nil || len(got) != 3 || got[0] != want[0] || got[1] != want[1] || got[2] != want[2] {
		t.Errorf("extents %v, %v; want %v", got, err, want)
	}
	got, err = d.Extents(300<<10, 4096)
	if err != nil || len(got) != 1 || got[0] != (Extent{Len: 4096}) {
		t.Errorf("extents inside data: %v, %v", got, err)
	}
	d.noSeek.Store(true)
	got, err = d.Extents(0, 1<<20)
	if err != nil || len(got) != 1 || got[0] != (Extent{Len: 1 << 20}) {
		t.Errorf("extents without SEEK_DATA: %v, %v", got, err)
	}
}

func TestExtentsAreBounded(t *testing.T) {
	path := sparseFile(t, 64<<20, 0, nil)
	d := open(t, path, FileOptions{})
	for off := int64(0); off < 64<<20; off += 16 << 10 {
		if _, err := d.WriteAt(make([]byte, 4096), off); err != nil {
			t.Fatal(err)
		}
	}
	got, err := d.Extents(0, 64<<20)
	if err != nil || len(got) != MaxExtents {
		t.Errorf("%d extents, %v", len(got), err)
	}
}

func TestFlushFailureIsPermanent(t *testing.T) {
	d := open(t, sparseFile(t, 1<<20, 0, nil), FileOptions{})
	d.flushErr = unix.EIO // as fdatasync reports it once
	if err := d.Flush(); !errors.Is(err, unix.EIO) {
		t.Errorf("flush after a failed flush: %v", err)
	}
}

func TestOpenImage(t *testing.T) {
	const size = 32 << 20
	want := make([]byte, size)
	copy(want[5<<20:], pattern(300_000))
	var z, g bytes.Buffer
	zw, err := zstd.NewWriter(&z)
	if err != nil {
		t.Fatal(err)
	}
	gw := gzip.NewWriter(&g)
	for _, w := range []io.WriteCloser{zw, gw} {
		if _, err := w.Write(want); err != nil {
			t.Fatal(err)
		}
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
	}
	dir := t.TempDir()
	for name, b := range map[string][]byte{"raw": want, "zst": z.Bytes(), "gz": g.Bytes()} {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, b, 0o600); err != nil {
			t.Fatal(err)
		}
		d, err := OpenImage(path)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		got := make([]byte, size)
		if _, err := d.ReadAt(got, 0); err != nil || d.Size() != size || !bytes.Equal(got, want) {
			t.Errorf("%s: size %d, %v", name, d.Size(), err)
		}
		if name != "raw" {
			runs, err := d.(Extenter).Extents(0, size)
			if err != nil || len(runs) != 3 || !runs[0].Hole {
				t.Errorf("%s: zeros did not stay holes: %v, %v", name, runs, err)
			}
		}
		d.Close()
		if name == "raw" {
			continue
		}
		// A truncated stream is an error, not a smaller disk.
		if err := os.WriteFile(path, b[:len(b)-5], 0o600); err != nil {
			t.Fatal(err)
		}
		if d, err := OpenImage(path); err == nil {
			d.Close()
			t.Errorf("%s: opened although it is truncated", name)
		} else if !strings.Contains(err.Error(), path) {
			t.Errorf("error does not name %s: %v", path, err)
		}
	}
}
