package btrfs_test

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"fsward/interp/btrfs"
)

// TestKernelSnapshots checks that the records of a new snapshot say how it differs from its source,
// and that it costs as many blocks, however many files its source has. The harness sees what a step
// does as one transaction. The model of the harness checks the records themselves.
func TestKernelSnapshots(t *testing.T) {
	k := startKernel(t, 256<<20)
	k.engine = builtin(t)
	run(t, "btrfs", "subvolume", "create", k.path("s"))
	const files = 1000
	for i := range files {
		must(t, os.WriteFile(k.path(fmt.Sprintf("s/file%d", i)), []byte("contents"), 0o644))
	}
	must(t, os.WriteFile(k.path("s/extents"), make([]byte, 1<<20), 0o644))
	k.sync()
	snapshot := func(from, to string) {
		run(t, "btrfs", "subvolume", "snapshot", k.path(from), k.path(to))
	}
	remove := func(name string) { run(t, "btrfs", "subvolume", "delete", k.path(name)) }
	write := func(name string) { must(t, os.WriteFile(k.path(name), make([]byte, 30000), 0o644)) }
	for _, step := range []struct {
		name     string
		do       func()
		snapshot uint64
		most     int // records of the snapshot
	}{
		{"snapshot", func() { snapshot("s", "a") }, 257, 0},
		{"read-only snapshot", func() {
			run(t, "btrfs", "subvolume", "snapshot", "-r", k.path("s"), k.path("b"))
		}, 258, 0},
		{"snapshot in its source", func() { snapshot("s", "s/c") }, 259, 20},
		{"changes before the snapshot", func() {
			write("s/file1")
			must(t, os.Remove(k.path("s/extents")))
			snapshot("s", "d")
		}, 260, 0},
		{"changes of both after the snapshot", func() {
			snapshot("s", "e")
			write("e/file2")
			must(t, os.Remove(k.path("s/file3")))
			write("s/new")
		}, 261, 200},
		{"snapshot of a snapshot", func() { snapshot("a", "f") }, 262, 0},
		{"snapshots in turn", func() {
			snapshot("s", "g")
			write("g/file4")
			snapshot("g", "h")
			write("s/file5")
			snapshot("s", "i")
		}, 264, 0},
		{"deletion of the source", func() { snapshot("d", "j"); remove("d") }, 266, 0},
		{"deletion of the snapshot", func() { snapshot("a", "k"); remove("k") }, 267, 0},
	} {
		t.Log(step.name)
		checkSnapshot(t, k, step.do, step.snapshot, step.most)
	}
	k.end()
}

// checkSnapshot makes a snapshot in one transaction, and checks the number of its records and of
// the blocks that the comparison read.
func checkSnapshot(t *testing.T, k *kernel, do func(), snapshot uint64, most int) {
	t.Helper()
	before, skips := btrfs.BaseOf(k.fs), k.skips
	do()
	lines := k.sync()
	if k.skips > skips {
		t.Fatal("the commit was judged as a whole")
	}
	count := 0
	for _, l := range lines {
		if strings.HasPrefix(l, fmt.Sprintf("change(%d,", snapshot)) {
			count++
		}
	}
	if count > most {
		t.Errorf("%d records of tree %d, want at most %d", count, snapshot, most)
	}
	if n := btrfs.NodesRead(before, btrfs.BaseOf(k.fs)); n > 120 {
		t.Errorf("the comparison read %d blocks, want at most 120", n)
	}
}
