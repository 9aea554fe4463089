package main

import (
	"fmt"
	"io"
	"os"
	"testing"
	"time"

	"go.uber.org/zap/zaptest"

	"fsward/hostd/load"
)

// TestSoakCut is a short cut of `make soak`: a few seconds of random load on each file system, no alarm,
// and an image that its own checker finds clean.
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
		commits int // at least, in the time of a round
	}{
		{"btrfs", "mixed", 1, 10}, {"btrfs", "fsync", 1, 10}, {"btrfs", "full", 1, 10}, {"btrfs", "mixed", 2, 10},
		{"ext3", "mixed", 1, 10}, {"ext3", "sync", 1, 10}, {"ext3", "full", 1, 10},
	} {
		t.Run(fmt.Sprintf("%s %s %d", tc.fs, tc.only, tc.disks), func(t *testing.T) {
			cfg := &config{
				fs: tc.fs, only: tc.only, disks: tc.disks, commits: 1, round: 4 * time.Second, seed: uint64(time.Now().UnixNano()),
				dir: t.TempDir(), fsload: program, out: io.Discard, log: zaptest.NewLogger(t),
			}
			total, err := cfg.soak(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			if total.judged() < tc.commits {
				t.Errorf("only %s, want %d commits", total, tc.commits)
			}
			t.Logf("seed %d: %s", cfg.seed, total)
		})
	}
}
