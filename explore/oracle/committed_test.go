package oracle

import (
	"cmp"
	"crypto/sha256"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/klauspost/compress/zstd"
	"golang.org/x/sys/unix"

	"fsward/blocktap"
	"fsward/blocktap/trace"
	"fsward/change"
	"fsward/interp/detect"
	"fsward/shareddata"
)

// sourceTree makes a folder with a file of two names, a symbolic link and a directory.
func sourceTree(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	for _, err := range []error{
		os.Chmod(dir, 0o755),
		os.Mkdir(filepath.Join(dir, "d"), 0o755),
		os.WriteFile(filepath.Join(dir, "d", "f"), []byte("12345"), 0o640),
		os.Chmod(filepath.Join(dir, "d", "f"), 0o640|os.ModeSetuid),
		os.Link(filepath.Join(dir, "d", "f"), filepath.Join(dir, "g")),
		os.Symlink("d/f", filepath.Join(dir, "l")),
	} {
		if err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// image is a file as a disk.
type image struct{ *os.File }

func (d image) Size() uint64 {
	info, err := d.Stat()
	if err != nil {
		return 0
	}
	return uint64(info.Size())
}

// makeImage makes a file system with a program that copies a folder into it.
func makeImage(t *testing.T, size int64, program ...string) image {
	t.Helper()
	f, err := os.Create(filepath.Join(t.TempDir(), "disk"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = f.Close() })
	if err := f.Truncate(size); err != nil {
		t.Fatal(err)
	}
	//nolint:gosec // constant programs
	mkfs := exec.Command(program[0], append(program[1:], f.Name())...)
	if out, err := mkfs.CombinedOutput(); err != nil {
		t.Fatalf("%v: %v: %s", program, err, out)
	}
	return image{f}
}

// TestReadCommitted checks that the files of the last commit are those that were copied into the
// file system.
func TestReadCommitted(t *testing.T) {
	dir := sourceTree(t)
	uid, gid := uint32(os.Getuid()), uint32(os.Getgid())
	for fs, program := range map[string][]string{
		"ext3":  {"mke2fs", "-q", "-F", "-t", "ext3", "-d", dir},
		"btrfs": {"mkfs.btrfs", "-q", "-f", "--rootdir", dir},
	} {
		dirLinks := map[string]uint64{".": 4, "d": 2, "lost+found": 2}
		c, err := ReadCommitted(makeImage(t, 128<<20, program...), detect.Auto)
		if err != nil {
			t.Fatalf("%s: %v", fs, err)
		}
		want := []File{
			{Path: ".", Mode: unix.S_IFDIR | 0o755},
			{Path: "d", Mode: unix.S_IFDIR | 0o755},
			{Path: "g", Mode: unix.S_IFREG | unix.S_ISUID | 0o640, Links: 2, Size: 5},
			{Path: "l", Mode: unix.S_IFLNK | 0o777, Links: 1, Size: 3},
		}
		if fs == "ext3" {
			want = append(want, File{Path: "lost+found", Mode: unix.S_IFDIR | 0o700})
		} else {
			dirLinks = map[string]uint64{".": 1, "d": 1}
		}
		want = append(want,
			File{Path: "d/f", Mode: unix.S_IFREG | unix.S_ISUID | 0o640, Links: 2, Size: 5})
		for i := range want {
			want[i].UID, want[i].GID = uid, gid
			want[i].Links = cmp.Or(want[i].Links, dirLinks[want[i].Path])
		}
		for i, f := range c.Entries {
			if f.Inode == 0 {
				t.Errorf("%s: %s has no inode", fs, f.Path)
			}
			if f.Mode&unix.S_IFMT == unix.S_IFDIR {
				c.Entries[i].Size = 0
			}
			file := f.Mode&unix.S_IFMT == unix.S_IFREG
			if f.Known != file || file && f.Sum != sha256.Sum256([]byte("12345")) {
				t.Errorf("%s: %s has the contents %+v", fs, f.Path, f.Contents)
			}
		}
		ignore := cmpopts.IgnoreFields(File{}, "Inode", "Contents", "tree")
		if diff := gocmp.Diff(want, c.Entries, ignore); diff != "" {
			t.Errorf("%s (-want +got):\n%s", fs, diff)
		}
		if c.Logged || c.Touches(257, 256, "d") {
			t.Errorf("%s: it has a log: %+v", fs, c)
		}
	}
}

// TestReadCommittedOfDamage checks that a disk without a sound file system has no files that
// recovery must give.
func TestReadCommittedOfDamage(t *testing.T) {
	d := makeImage(t, 16<<20, "mke2fs", "-q", "-F", "-t", "ext3", "-b", "1024")
	if _, err := ReadCommitted(d, "ext3"); err != nil {
		t.Fatal(err)
	}
	if _, err := d.WriteAt(make([]byte, 64<<10), 2048); err != nil {
		t.Fatal(err)
	}
	if c, err := ReadCommitted(d, "ext3"); err == nil {
		t.Errorf("the files of a disk without group descriptors: %+v", c)
	}
}

// replayed writes a recorded log to a copy of its base. After every so many flushes it calls visit.
func replayed(t *testing.T, name string, every int, visit func(d image)) {
	t.Helper()
	f, err := os.Create(filepath.Join(t.TempDir(), "disk"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = f.Close() })
	base, err := os.Open(shareddata.Path(t, "logs/"+name+".base.img.zst"))
	if err != nil {
		t.Fatal(err)
	}
	defer base.Close()
	z, err := zstd.NewReader(base)
	if err != nil {
		t.Fatal(err)
	}
	defer z.Close()
	if _, err := io.Copy(f, z); err != nil {
		t.Fatal(err)
	}
	log, err := trace.Open(shareddata.Path(t, "logs/"+name+".log.zst"))
	if err != nil {
		t.Fatal(err)
	}
	defer log.Close()
	for flushes := 0; ; {
		e, err := log.Next()
		if errors.Is(err, io.EOF) {
			return
		}
		if err != nil {
			t.Fatal(err)
		}
		r, ok := e.Request()
		switch {
		case !ok:
		case r.Op == blocktap.OpFlush:
			if flushes++; flushes%every == 0 {
				visit(image{f})
			}
		case r.Op == blocktap.OpWrite:
			if _, err := f.WriteAt(r.Data, int64(r.Off)); err != nil {
				t.Fatal(err)
			}
		default: // discards and zeros
			if _, err := f.WriteAt(make([]byte, r.Len), int64(r.Off)); err != nil {
				t.Fatal(err)
			}
		}
	}
}

// TestReadCommittedAsE2fsck checks that the files of the last commit are those that are there after
// e2fsck, which has a replay of the journal of its own.
func TestReadCommittedAsE2fsck(t *testing.T) {
	copied := filepath.Join(t.TempDir(), "copy")
	compared, grown := 0, make(map[int]bool)
	replayed(t, "ext3-default", 28, func(d image) {
		want, err := ReadCommitted(d, "ext3")
		if err != nil {
			t.Fatal(err)
		}
		//nolint:gosec // a constant program and files of the test
		cp := exec.Command("cp", "--sparse=always", d.Name(), copied)
		if out, err := cp.CombinedOutput(); err != nil {
			t.Fatalf("%v: %s", err, out)
		}
		_ = exec.Command("e2fsck", "-fy", copied).Run() // exit status 1: it replayed the journal
		f, err := os.Open(copied)
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		got, err := ReadCommitted(image{f}, "ext3")
		if err != nil {
			t.Fatal(err)
		}
		public := cmpopts.IgnoreUnexported(File{}, Contents{})
		byPath := cmpopts.SortSlices(func(a, b File) bool { return a.Path < b.Path })
		if diff := gocmp.Diff(want.Entries, got.Entries, byPath, public); diff != "" {
			t.Errorf("commit %d (-last commit +e2fsck):\n%s", want.Commit, diff)
		}
		compared++
		grown[len(want.Entries)] = true
	})
	if compared < 2 || len(grown) < 2 {
		t.Errorf("%d states with %v names were compared", compared, grown)
	}
}

// TestLogTouches checks that the log of fsync touches the inodes that it has items of, and the
// names in its back references.
func TestLogTouches(t *testing.T) {
	s := detect.Schema("btrfs")
	inodeItem, _ := s.KindByName("inode_item")
	inodeRef, _ := s.KindByName("inode_ref")
	log := &change.Txn{Schema: s, Names: change.NewNames()}
	log.Add(change.Object{ID: 257, Kind: inodeItem})
	ref := change.Object{ID: 258, Kind: inodeRef, Sub: 256, Aux: 3} // the third entry of 256
	log.Add(ref)
	named := change.Record{Object: ref, Field: fieldByName(s, "name"),
		New: log.Names.Intern([]byte("new"))}
	log.Append(named)
	c := &Committed{inodes: make(map[uint64]bool), renamed: make(map[name]bool)}
	c.addLog(log)
	for _, x := range []struct {
		inode, dir uint64
		text       string
		want       bool
	}{
		{257, 1, "", true}, {258, 1, "", true}, {259, 256, "new", true},
		{259, 256, "old", false}, {259, 300, "new", false},
	} {
		if got := c.Touches(x.inode, x.dir, x.text); got != x.want {
			t.Errorf("inode %d, %q in %d: %v, want %v", x.inode, x.text, x.dir, got, x.want)
		}
	}
}
