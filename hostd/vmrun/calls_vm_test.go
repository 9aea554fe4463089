//go:build vmtest

package vmrun

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"go.uber.org/zap/zaptest"

	"fsward/hostd/daemon"
	"fsward/hostd/guard"
	"fsward/hostd/guardtest"
	"fsward/hostd/vm"
	"fsward/interp/detect"
)

// TestGuestCalls checks the fsync and sync of a guest against its guarded disks. Debian's kernel
// keeps every promise, under loads of many kinds. If the kernel takes the disks' cache for a
// write-through one, it sends no flushes, and each call comes too early.
func TestGuestCalls(t *testing.T) {
	guestDir := guardtest.BuildGuest(t)
	for _, c := range []struct {
		name, cmdline string
		early         bool
	}{
		{"flushes arrive", "fsward.seconds=6", false},
		{"flushes are lost", "fsward.seconds=3 fsward.cache=through", true},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir, seen := t.TempDir(), &guardtest.Recorder{}
			// A guard that has seen flushes also refuses commits that are written without them:
			// docs/decisions/0026. Here it lets them through.
			cfg := Config{Config: daemon.Config{Calls: true,
				Config: guard.Config{FS: detect.Auto,
					Policies: guard.Policies{OnViolation: guard.OnLog}, Sinks: []guard.Sink{seen}}}}
			for _, fs := range []string{"btrfs", "ext3"} {
				image := filepath.Join(dir, fs)
				guardtest.Run(t, "truncate", "-s", "1G", image)
				cfg.Disks = append(cfg.Disks, guard.DiskSpec{Name: fs, Path: image})
			}
			cfg.Guest = vm.Config{Name: "fsward-calls", Kernel: filepath.Join(guestDir, "vmlinuz"),
				Initramfs: filepath.Join(guestDir, "initramfs.cpio.zst"),
				Cmdline: "fsward.script=soak fsward.calls=yes fsward.btrfs=btrfs fsward.ext3=ext3 " +
					"fsward.profiles=mixed,fsync " + c.cmdline,
				Console: filepath.Join(dir, "console")}
			ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
			defer cancel()
			end, _, err := Run(ctx, cfg, zaptest.NewLogger(t))
			if err != nil || !end.Clean() {
				t.Fatalf("the guest ended with %v, %v", end, err)
			}
			early := earlyCalls(t, seen)
			if len(early) > 0 && !c.early {
				t.Error("calls came too early although flushes arrive")
			}
			t.Logf("early: %v", early)
			for _, disk := range cfg.Disks {
				for _, call := range []string{"fsync", "syncfs"} { // the others happen by chance
					if c.early && early[disk.Name+" "+call] == 0 {
						t.Errorf("%s: no %s came too early", disk.Name, call)
					}
				}
			}
		})
	}
}

// earlyCalls returns the number of calls that came too early, by disk and name of the call. It
// checks that at least 100 calls were checked.
func earlyCalls(t *testing.T, seen *guardtest.Recorder) map[string]int {
	t.Helper()
	early := map[string]int{}
	judged, known := 0, 0
	for _, ev := range seen.Events() {
		switch {
		case ev.Kind == guard.KindCall:
			early[ev.Disk+" "+strings.TrimPrefix(ev.Violations[0].Rule, "calls/")]++
			t.Log(guardtest.TextOf(ev))
		case strings.HasPrefix(ev.Note, "calls of the guest"):
			const format = "calls of the guest: %d were checked, %d of them"
			if _, err := fmt.Sscanf(ev.Note, format, &judged, &known); err != nil {
				t.Error(err)
			}
			t.Log(ev.Note)
		}
	}
	if judged < 100 {
		t.Errorf("only %d calls were held against the disks", judged)
	}
	return early
}
