package btrfs_test

import (
	"fmt"
	"math/rand/v2"
	"os"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func seedFor(t testing.TB) *rand.Rand {
	seed := uint64(1)
	if s := os.Getenv("FSWARD_SEED"); s != "" {
		if _, err := fmt.Sscan(s, &seed); err != nil {
			t.Fatal(err)
		}
	}
	t.Logf("seed %d (FSWARD_SEED)", seed)
	return rand.New(rand.NewPCG(seed, 0))
}

// workload does n random operations on files, directories, links and names. Many fail, because the
// file or directory does not exist.
func (k *kernel) workload(r *rand.Rand, n int) {
	pick := func(kind string, of int) string { return k.path(fmt.Sprintf("%s%d", kind, r.IntN(of))) }
	write := func(path string, size int) {
		f, err := os.OpenFile(path, os.O_CREATE|os.O_WRONLY, 0o644)
		if err != nil {
			return
		}
		_, _ = f.WriteAt(make([]byte, size+1), int64(r.IntN(1<<16)))
		_ = f.Close()
	}
	for range n {
		switch r.IntN(14) {
		case 0, 1, 2:
			write(pick("f", 60), r.IntN(100000))
		case 3:
			write(pick("f", 60), r.IntN(1000)) // inline
		case 4:
			_ = os.Remove(pick("f", 60))
		case 5:
			_ = os.Mkdir(pick("d", 10), 0o755)
		case 6:
			write(pick("d", 10)+fmt.Sprintf("/x%d", r.IntN(20)), r.IntN(5000))
		case 7:
			_ = os.RemoveAll(pick("d", 10))
		case 8:
			_ = os.Link(pick("f", 60), pick("l", 60))
		case 9:
			_ = os.Remove(pick("l", 60))
		case 10:
			_ = os.Rename(pick("f", 60), pick("f", 60))
		case 11:
			_ = os.Rename(pick("d", 10), pick("d", 10)+"/moved")
		case 12:
			_ = os.Symlink(strings.Repeat("s", 1+r.IntN(200)), pick("s", 20))
		case 13:
			path, name := pick("f", 60), fmt.Sprintf("user.a%d", r.IntN(4))
			_ = unix.Setxattr(path, name, make([]byte, r.IntN(300)), 0)
		}
	}
}

// TestKernelWorkloads checks that all commits of the host's kernel are sound, with the default
// options of mkfs and with others, and btrfs check reports no error at the end.
func TestKernelWorkloads(t *testing.T) {
	for _, tc := range []struct {
		name    string
		size    int64
		options []string
	}{
		{"default", 256 << 20, nil},
		{"mixed", 100 << 20, []string{"--mixed"}},
		{"small-nodes", 256 << 20, []string{"-n", "4096", "-m", "single"}},
		{"old-features", 256 << 20, []string{
			"-O", "^skinny-metadata,^no-holes,^extref", "-R", "^free-space-tree",
		}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			k := startKernel(t, tc.size, tc.options...)
			k.engine = builtin(t)
			r := seedFor(t)
			for range 12 {
				k.workload(r, 40)
				k.sync()
			}
			k.end()
		})
	}
}

// TestKernelSubvolumes checks that commits that share and move blocks are sound: subvolumes,
// snapshots, balance, reflinks and the deletion of subvolumes.
func TestKernelSubvolumes(t *testing.T) {
	k := startKernel(t, 512<<20)
	k.engine = builtin(t)
	r := seedFor(t)
	k.workload(r, 100)
	k.sync()
	run(t, "btrfs", "subvolume", "create", k.path("sub"))
	k.sync()
	for i := range 30 {
		must(t, os.WriteFile(k.path(fmt.Sprintf("sub/file%d", i)), make([]byte, 20000), 0o644))
	}
	k.sync()
	run(t, "btrfs", "subvolume", "snapshot", k.path("sub"), k.path("snap"))
	k.sync()
	must(t, os.WriteFile(k.path("sub/file0"), []byte("other"), 0o644))
	must(t, os.Remove(k.path("snap/file1")))
	run(t, "btrfs", "subvolume", "snapshot", "-r", k.mnt, k.path("top"))
	k.sync()
	run(t, "cp", "--reflink=always", k.path("sub/file2"), k.path("sub/clone"))
	run(t, "btrfs", "property", "set", k.path("top"), "ro", "false")
	k.sync()
	run(t, "btrfs", "balance", "start", "--full-balance", k.mnt)
	k.sync()
	k.workload(r, 60)
	k.sync()
	run(t, "btrfs", "subvolume", "delete", k.path("snap"), k.path("top"))
	k.sync()
	run(t, "btrfs", "subvolume", "sync", k.mnt)
	k.sync()
	run(t, "btrfs", "quota", "enable", k.mnt)
	k.sync()
	run(t, "btrfs", "filesystem", "resize", "-64m", k.mnt)
	k.sync()
	k.end()
}

// TestKernelManyNames checks that commits with a file of many names, which has inode_extrefs, and
// with a directory of many entries, which has several leaves, are sound.
func TestKernelManyNames(t *testing.T) {
	k := startKernel(t, 256<<20)
	k.engine = builtin(t)
	must(t, os.WriteFile(k.path("one"), []byte("x"), 0o644))
	must(t, os.Mkdir(k.path("d"), 0o755))
	name := func(i int) string { return k.path(fmt.Sprintf("d/%s%d", strings.Repeat("n", 80), i)) }
	for i := range 900 {
		must(t, os.Link(k.path("one"), name(i)))
	}
	k.sync()
	for i := range 900 {
		if i%3 == 0 {
			must(t, os.Remove(name(i)))
		}
		if i%3 == 1 {
			must(t, os.Rename(name(i), k.path(fmt.Sprintf("d/moved%d", i))))
		}
	}
	k.sync()
	run(t, "rm", "-r", k.path("d"))
	k.sync()
	k.end()
}

func writeFile(path string, size int) error { return os.WriteFile(path, make([]byte, size), 0o644) }

// TestKernelLog checks the log that fsync writes, with a superblock of the same generation, and the
// commit in which the kernel replays the log after a crash.
func TestKernelLog(t *testing.T) {
	k := startKernel(t, 128<<20)
	k.engine = builtin(t)
	must(t, writeFile(k.path("before"), 100))
	k.sync()
	f, err := os.Create(k.path("synced"))
	must(t, err)
	_, err = f.Write(make([]byte, 9000))
	must(t, err)
	must(t, f.Sync())
	must(t, f.Close())
	k.observe()
	if k.logs != 1 || k.commits == 0 {
		t.Fatalf("%d log commits after %d commits", k.logs, k.commits)
	}
	// A crash leaves the present contents of the disk.
	crashed := k.disk.clone()
	run(t, "umount", k.mnt)
	image, err := os.OpenFile(k.image, os.O_RDWR, 0)
	must(t, err)
	must(t, image.Truncate(0))
	must(t, image.Truncate(int64(crashed.size)))
	for page, data := range crashed.pages {
		_, err := image.WriteAt(data[:], int64(page*pageSize))
		must(t, err)
	}
	must(t, image.Close())
	k.mount()
	if _, err := os.Stat(k.path("synced")); err != nil {
		t.Errorf("the log was not replayed: %v", err)
	}
	commits := k.commits
	k.sync()
	if k.commits == commits {
		t.Error("the replay of the log is no commit")
	}
	k.end()
}
