package oracle

import (
	"os/exec"
	"path/filepath"
	"testing"

	"golang.org/x/sys/unix"

	"fsward/interp/detect"
)

// TestReadCommittedOfNestedSnapshot: the files of a snapshot of a subvolume with another one in it
// are those that Linux shows: a directory is in the place of that one. It needs root.
func TestReadCommittedOfNestedSnapshot(t *testing.T) {
	disk, at := makeImage(t, 128<<20, "mkfs.btrfs", "-q", "-f"), t.TempDir()
	run := func(args ...string) {
		t.Helper()
		//nolint:gosec // constant programs
		if out, err := exec.Command(args[0], args[1:]...).CombinedOutput(); err != nil {
			t.Fatalf("%v: %v: %s", args, err, out)
		}
	}
	run("mount", "-o", "loop", disk.Name(), at)
	mounted := true
	t.Cleanup(func() {
		if mounted {
			_ = unix.Unmount(at, 0)
		}
	})
	run("btrfs", "subvolume", "create", filepath.Join(at, "v"))
	run("mkdir", filepath.Join(at, "v", "d"))
	run("btrfs", "subvolume", "snapshot", at, filepath.Join(at, "s"))
	var st, above unix.Stat_t
	if err := unix.Lstat(filepath.Join(at, "s", "v"), &st); err != nil {
		t.Fatal(err)
	}
	if err := unix.Lstat(filepath.Join(at, "s"), &above); err != nil {
		t.Fatal(err)
	}
	run("umount", at)
	mounted = false
	c, err := ReadCommitted(disk, detect.Auto)
	if err != nil {
		t.Fatal(err)
	}
	files := make(map[string]File)
	for _, f := range c.Entries {
		files[f.Path] = f
	}
	if len(files) != 5 { // ".", "v", "v/d", "s", "s/v"
		t.Errorf("found %d files: %v", len(files), files)
	}
	is := files["s/v"]
	if is.Mode != st.Mode || is.Links != st.Nlink || is.UID != st.Uid || is.GID != st.Gid ||
		is.Inode != st.Ino || is.Subvolume != 0 || st.Dev == above.Dev {
		t.Errorf("s/v is %+v, and Linux shows %+v", is, st)
	}
}
