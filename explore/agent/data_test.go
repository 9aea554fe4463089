package agent

import (
	"crypto/sha256"
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/sys/unix"
)

// TestDataOps: direct and mapped writes, msync, sync_file_range and linkat act on the files of this
// machine's /dev/shm.
func TestDataOps(t *testing.T) {
	c := connected(t)
	dir, err := os.MkdirTemp("/dev/shm", "fsward-agent-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	f := filepath.Join(dir, "f")
	got := perform(t, c,
		Open(0, dir, unix.O_TMPFILE|unix.O_RDWR, 0o600),
		Fill(0, 0, 8192, 1),
		Linkat(0, f),
		Linkat(0, f), // EEXIST
		Mmapwrite(0, 100, 5000, 2),
		Mmapwrite(0, 8000, 193, 2), // EFAULT: a byte more than the file has
		Mmapwrite(0, 0, 0, 2),      // EINVAL
		Msync(0, 4096, 4096),
		SyncFileRange(0, 0, 4096, unix.SYNC_FILE_RANGE_WRITE),
		SyncFileRange(0, 0, 4096, 64), // EINVAL
		Clone(0, 0, 9, 0, 4096),       // EBADF
		Together(Fsync(0), Fill(0, 8192, 10, 3)),
		Together(Close(0), Fsync(0)), // EINVAL
	)
	want := []unix.Errno{0, 0, 0, unix.EEXIST, 0, unix.EFAULT, unix.EINVAL, 0, 0, unix.EINVAL,
		unix.EBADF, 0, unix.EINVAL}
	if diff := cmp.Diff(want, errnos(got)); diff != "" {
		t.Error(diff)
	}
	first, second, err := BothResults(got[11].Data)
	if err != nil || first.Errno != 0 || second.Errno != 0 || second.Value != 10 {
		t.Errorf("both: %+v, %+v, %v", first, second, err)
	}
	is, err := os.ReadFile(f)
	if err != nil {
		t.Fatal(err)
	}
	content := make([]byte, 8202)
	Pattern(content[:8192], 0, 1)
	Pattern(content[100:5100], 100, 2)
	Pattern(content[8192:], 8192, 3)
	if diff := cmp.Diff(content, is); diff != "" {
		t.Error("the file has other content")
	}
}

// TestMmaptail: a write behind the end changes neither size nor content, and needs a partial last
// page.
func TestMmaptail(t *testing.T) {
	f := filepath.Join(t.TempDir(), "f")
	got := perform(t, connected(t),
		Open(0, f, unix.O_CREAT|unix.O_RDWR, 0o600),
		Mmaptail(0, 50, 9), // EFAULT: there is no last page
		Fill(0, 0, 5000, 1),
		Mmaptail(0, 50, 9),
		Mmaptail(0, 3193, 9), // EFAULT: a byte more than the page has
		Mmaptail(0, 0, 9),    // EINVAL
		Close(0), Mmaptail(0, 50, 9))
	want := []unix.Errno{0, unix.EFAULT, 0, 0, unix.EFAULT, unix.EINVAL, 0, unix.EBADF}
	if diff := cmp.Diff(want, errnos(got)); diff != "" {
		t.Error(diff)
	}
	is, err := os.ReadFile(f)
	content := make([]byte, 5000)
	Pattern(content, 0, 1)
	if diff := cmp.Diff(content, is); diff != "" || err != nil {
		t.Errorf("the file has other content: %v", err)
	}
}

// TestContents: files are read once and whole, with and without holes, and holes of real file
// systems have no data.
func TestContents(t *testing.T) {
	for name, c := range map[string]struct{ at, size int64 }{
		"empty": {0, 0}, "short": {0, 1}, "a hole on each side": {100_000, 300_000},
		"a hole before": {100_000, 100_001}, "a hole behind": {0, 300_000},
		"longer than a buffer": {200_000, 200_001},
	} {
		content := make([]byte, c.size)
		f := filepath.Join(t.TempDir(), "f")
		if err := os.WriteFile(f, nil, 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Truncate(f, c.size); err != nil {
			t.Fatal(err)
		}
		if c.size > 0 {
			content[c.at] = 1
			w, err := os.OpenFile(f, os.O_WRONLY, 0)
			if err != nil {
				t.Fatal(err)
			}
			_, err = w.WriteAt(content[c.at:c.at+1], c.at)
			if err = errors.Join(err, w.Close()); err != nil {
				t.Fatal(err)
			}
		}
		e := Entry{Size: uint64(c.size)}
		err := e.readFile(f, make([]byte, 1<<10))
		if err != nil || e.Sum != sha256.Sum256(content) || e.InHole != 0 {
			t.Errorf("%s: %x, data in a hole at %d, %v", name, e.Sum, e.InHole, err)
		}
	}
	full := holeReader{at: 10}
	for _, b := range [][]byte{make([]byte, 50), {0, 0, 7}, {8}} {
		if n, err := full.Write(b); n != len(b) || err != nil {
			t.Errorf("%d, %v", n, err)
		}
	}
	if full.found != 63 {
		t.Errorf("the first byte is at %d - 1", full.found)
	}
}

// TestHeldFiles: a file in a slot from FirstHeld on stays open from one batch to the next, and
// Unmount closes it, whatever it unmounts.
func TestHeldFiles(t *testing.T) {
	c := connected(t)
	f := filepath.Join(t.TempDir(), "f")
	perform(t, c, Open(FirstHeld, f, unix.O_CREAT|unix.O_RDWR, 0o600), Open(0, f, unix.O_RDWR, 0))
	got := perform(t, c, Unlink(f), Fill(FirstHeld, 0, 10, 1), Read(FirstHeld, 0, 20), Fsync(0),
		Unmount(t.TempDir(), 0), Fsync(FirstHeld))
	want := []unix.Errno{0, 0, 0, unix.EBADF, unix.EINVAL, unix.EBADF}
	if diff := cmp.Diff(want, errnos(got)); diff != "" || len(got[2].Data) != 10 {
		t.Errorf("%s %d bytes", diff, len(got[2].Data))
	}
}

// TestWriteHalves: both halves are written, one behind the other.
func TestWriteHalves(t *testing.T) {
	name := filepath.Join(t.TempDir(), "f")
	f, err := os.Create(name)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if n, err := writeHalves(int(f.Fd()), []byte("abcd"), 2); n != 4 || err != nil {
		t.Errorf("%d, %v", n, err)
	}
	if is, err := os.ReadFile(name); string(is) != "\x00\x00abcd" || err != nil {
		t.Errorf("%q, %v", is, err)
	}
	if n, err := writeHalves(-1, []byte("abcd"), 0); n != 0 || err == nil {
		t.Errorf("of a closed file: %d, %v", n, err)
	}
}
