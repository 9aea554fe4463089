//go:build vmtest

package vmrun

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"go.uber.org/zap/zaptest"

	"fsward/change"
	"fsward/hostd/daemon"
	"fsward/hostd/guard"
	"fsward/hostd/guardtest"
	"fsward/hostd/vm"
	"fsward/interp/detect"
)

// TestGuestSoak runs random loads in a guest under Debian's own kernel, and expects no alarm.
// FSWARD_SOAK_SECONDS is the time of each profile on each file system, in seconds.
func TestGuestSoak(t *testing.T) {
	seconds := 12
	if s := os.Getenv("FSWARD_SOAK_SECONDS"); s != "" {
		if _, err := fmt.Sscan(s, &seconds); err != nil {
			t.Fatal(err)
		}
	}
	seen := &guardtest.Recorder{}
	cfg := soakConfig(t, seconds, seen)
	ctx, cancel := context.WithTimeout(t.Context(),
		5*time.Minute+10*time.Duration(seconds)*time.Second)
	defer cancel()
	end, _, err := Run(ctx, cfg, zaptest.NewLogger(t))
	console, _ := os.ReadFile(cfg.Guest.Console)
	if err != nil || !end.Clean() || !strings.Contains(string(console), "FSWARD: end 0") {
		t.Errorf("the guest ended with %v, %v; its console says\n%s", end, err,
			console[max(0, len(console)-3000):])
	}
	commits := map[string]int{}
	for _, ev := range seen.Events() {
		if ev.Outcome != change.Holds {
			t.Errorf("false alarm: %s", guardtest.TextOf(ev))
		}
		if ev.Kind == guard.KindCommit || ev.Kind == guard.KindLogCommit {
			commits[ev.FS]++
		}
	}
	verity := verityFiles(string(console))
	for _, d := range cfg.Disks {
		if commits[d.Name] < 20 {
			t.Errorf("%s: only %d commits were judged, want 20", d.Name, commits[d.Name])
		}
		guardtest.MustBeClean(t, d.Name, d.Path)
		guardtest.MustHold(t, []string{d.Path})
	}
	if verity == 0 {
		t.Error("no file was protected by fs-verity, although the guest's kernel supports it")
	}
	t.Logf("commits and log commits: %v; %d files with fs-verity", commits, verity)
}

// soakConfig describes a guest with two disks that runs each profile of the load on each file
// system for so many seconds. seen records the events.
func soakConfig(t *testing.T, seconds int, seen *guardtest.Recorder) Config {
	t.Helper()
	guestDir := guardtest.BuildGuest(t)
	dir, err := os.MkdirTemp("", "fsward-soak-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	cfg := Config{RunDir: filepath.Join(dir, "run"),
		Config: daemon.Config{Config: guard.Config{FS: detect.Auto,
			Policies: guard.Policies{OnViolation: guard.OnRefuse},
			Sinks:    []guard.Sink{seen}}}}
	for _, fs := range []string{"btrfs", "ext3"} {
		image := filepath.Join(dir, fs)
		guardtest.Run(t, "truncate", "-s", "1G", image)
		cfg.Disks = append(cfg.Disks, guard.DiskSpec{Name: fs, Path: image})
	}
	seed := time.Now().UnixNano() >> 10
	t.Logf("fsward.seed=%d", seed)
	const cmdline = "fsward.script=soak fsward.btrfs=btrfs fsward.ext3=ext3 " +
		"fsward.seconds=%d fsward.seed=%d"
	cfg.Guest = vm.Config{Name: "fsward-soak", Kernel: filepath.Join(guestDir, "vmlinuz"),
		Initramfs: filepath.Join(guestDir, "initramfs.cpio.zst"),
		Cmdline:   fmt.Sprintf(cmdline, seconds, seed),
		Console:   filepath.Join(dir, "console")}
	return cfg
}

// verityFiles returns the number of files that the load has protected with fs-verity, according to
// the guest's console.
func verityFiles(console string) (files int) {
	for _, line := range strings.Split(console, "\n") {
		var n int
		if _, after, ok := strings.Cut(line, "fs-verity on "); ok {
			if _, err := fmt.Sscan(after, &n); err == nil {
				files += n
			}
		}
	}
	return files
}
