package main

import (
	"fmt"
	"io"
	"os"
	"testing"
	"time"

	"go.uber.org/zap/zaptest"

	"fsward/dev/load"
)

// TestSoakCut is a short form of `make soak`: random load on each file system must cause no alarm
// and leave a clean image. Operations, not seconds, bound the load, so that the machine's speed
// does not matter.
func TestSoakCut(t *testing.T) {
	if os.Getuid() != 0 {
		t.Fatal("loop mounts need root: run the tests as root")
	}
	dir := t.TempDir()
	program, err := load.Build(t.Context(), dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, tc := range []struct {
		fs      string
		only    string
		disks   int // at least
		ops     int // of each of two workers
		commits int // at least
	}{
		{"btrfs", "mixed", 1, 800, 10},
		{"btrfs", "fsync", 1, 500, 30},
		{"btrfs", "full", 1, 500, 10},
		{"btrfs", "mixed", 2, 800, 10},
		{"btrfs", "mixtures", 1, 0, 1},
		{"btrfs", "shapes", 1, 1, 3},
		{"btrfs", "tools", 1, 100, 10},
		{"ext3", "mixed", 1, 800, 10},
		{"ext3", "sync", 1, 300, 30},
		{"ext3", "full", 1, 500, 10},
		{"ext3", "mixtures", 1, 0, 1},
		{"ext3", "shapes", 1, 1, 3},
		{"ext3", "tools", 1, 200, 10},
	} {
		t.Run(fmt.Sprintf("%s %s %d", tc.fs, tc.only, tc.disks), func(t *testing.T) {
			cfg := &config{
				fs:      tc.fs,
				only:    tc.only,
				disks:   tc.disks,
				commits: 1,
				ops:     tc.ops,
				seed:    uint64(time.Now().UnixNano()),
				dir:     t.TempDir(),
				fsload:  program,
				out:     io.Discard,
				log:     zaptest.NewLogger(t),
			}
			total, err := cfg.soak(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			if total.checked() < tc.commits {
				t.Errorf("%s, want at least %d commits", total, tc.commits)
			}
			t.Logf("seed %d: %s", cfg.seed, total)
		})
	}
}

// TestSoakDivided is a short form of `make soak SOAK="-layout gpt,mbr,lvm"`: an ext3 and a Btrfs on
// the volumes of a disk, whose tables change meanwhile.
func TestSoakDivided(t *testing.T) {
	dir := t.TempDir()
	program, err := load.Build(t.Context(), dir)
	if err != nil {
		t.Fatal(err)
	}
	cfg := &config{layouts: layouts, commits: 1, ops: 100, seed: uint64(time.Now().UnixNano()),
		dir: dir, fsload: program, out: io.Discard, log: zaptest.NewLogger(t)}
	for _, n := range []int{1, 2} { // other tests have gpt
		r := cfg.dividedRound(n)
		got, err := r.run(t.Context())
		if err != nil {
			t.Fatalf("%s, seed %d: %v", r.name(), cfg.seed, err)
		}
		t.Logf("%s: %s", r.name(), got)
		// The seed decides how often a round forces a commit: about 9 to 20 times.
		if got.commits < 5 || got.changes < 1 {
			t.Errorf("%s: %s, want at least 5 commits and a change of the table", r.name(), got)
		}
	}
}
