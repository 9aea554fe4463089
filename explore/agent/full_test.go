package agent_test

import (
	"path/filepath"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"fsward/explore/agent"
	"fsward/explore/modeltest"
)

// TestFill: FillDisk leaves no space on file systems with and without fallocate(2), and FillInodes
// no inode and all space but that of the names. What they take goes back.
func TestFill(t *testing.T) {
	for _, fs := range []string{"ext2", "ext3", "ext4"} {
		t.Run(fs, func(t *testing.T) {
			c, root := modeltest.ThisMachine(t), modeltest.MountedSmall(t, fs)
			do := func(want unix.Errno, ops ...agent.Op) {
				t.Helper()
				done, err := c.Do(t.Context(), agent.Batch{Ops: ops, Timeout: time.Minute})
				if err != nil {
					t.Fatal(err)
				}
				for i, r := range done.Results {
					if r.Errno != want {
						t.Errorf("%v: %v, want %v", ops[i], r.Errno, want)
					}
				}
			}
			file := filepath.Join(root, "f")
			create := agent.Open(0, file, unix.O_CREAT|unix.O_RDWR, 0o600)
			write := agent.Fill(0, 0, 4096, 1)
			empty := free(t, root)
			do(0, create, agent.FillDisk(root), agent.FillDisk(root))
			if is := free(t, root); is.Bavail != 0 { // ext4 keeps some that nobody gets
				t.Errorf("%d blocks are free on the full disk", is.Bavail)
			}
			checkFillEntry(t, c, root)
			do(unix.ENOSPC, agent.Symlink(strings.Repeat("t", 900), file+"-link"))
			do(0, agent.FreeDisk(root), create, write, agent.Unlink(file))
			do(0, agent.FillInodes(root), agent.FillInodes(root))
			if is := free(t, root); is.Ffree != 0 || is.Bfree < empty.Bfree*9/10 {
				t.Errorf("%d inodes and %d blocks are free, where all of %d inodes should be used",
					is.Ffree, is.Bfree, empty.Ffree)
			}
			do(unix.ENOSPC, create)
			do(0, agent.FillDisk(root), agent.FreeDisk(root), agent.FreeInodes(root), create,
				agent.Unlink(file), agent.Sync())
			if is := free(t, root); is.Ffree < empty.Ffree {
				t.Errorf("%d inodes are free at the end, and %d were", is.Ffree, empty.Ffree)
			}
		})
	}
}

// free returns what statfs(2) says of a file system.
func free(t *testing.T, root string) (fs unix.Statfs_t) {
	t.Helper()
	if err := unix.Statfs(root, &fs); err != nil {
		t.Fatal(err)
	}
	return fs
}

// checkFillEntry checks that a Tree has the file of FillDisk without a sum.
func checkFillEntry(t *testing.T, c *agent.Client, root string) {
	t.Helper()
	done, err := c.Do(t.Context(), agent.Batch{Timeout: time.Minute,
		Ops: []agent.Op{agent.Tree(root)}})
	if err != nil {
		t.Fatal(err)
	}
	list, err := agent.DecodeTree(done.Results[0].Data)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range list {
		if e.Path == agent.FillName && (e.Errno != 0 || e.Sum != agent.Entry{}.Sum) {
			t.Errorf("%+v", e)
		}
	}
}
