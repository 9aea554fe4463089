package oracle

import (
	"cmp"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"golang.org/x/sys/unix"

	"fsward/interp/detect"
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

// The files of the last commit are those that were copied into the file system.
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
			{Path: "d/f", Mode: unix.S_IFREG | unix.S_ISUID | 0o640, Links: 2, Size: 5},
			{Path: "g", Mode: unix.S_IFREG | unix.S_ISUID | 0o640, Links: 2, Size: 5},
			{Path: "l", Mode: unix.S_IFLNK | 0o777, Links: 1, Size: 3},
		}
		if fs == "ext3" {
			want = append(want, File{Path: "lost+found", Mode: unix.S_IFDIR | 0o700})
		} else {
			dirLinks = map[string]uint64{".": 1, "d": 1}
		}
		for i := range want {
			want[i].UID, want[i].GID = uid, gid
			want[i].Links = cmp.Or(want[i].Links, dirLinks[want[i].Path])
		}
		slices.SortFunc(c.Entries, func(a, b File) int { return cmp.Compare(a.Path, b.Path) })
		for i, f := range c.Entries {
			if f.Inode == 0 {
				t.Errorf("%s: %s has no inode", fs, f.Path)
			}
			if f.Mode&unix.S_IFMT == unix.S_IFDIR {
				c.Entries[i].Size = 0
			}
		}
		ignore := cmpopts.IgnoreFields(File{}, "Inode")
		if diff := gocmp.Diff(want, c.Entries, ignore); diff != "" {
			t.Errorf("%s (-want +got):\n%s", fs, diff)
		}
		if c.Logged || c.Touches(257, 256, "d") {
			t.Errorf("%s: it has a log: %+v", fs, c)
		}
	}
}

// A disk without a sound file system has no files that recovery must give.
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
