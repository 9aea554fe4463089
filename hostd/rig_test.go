package hostd

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/zap"
	"go.uber.org/zap/zaptest"

	"fsward/blocktap/fuse/loopmount"
	"fsward/change"
	"fsward/interp/detect"
)

// A rig is a guarded image that the host's own kernel has mounted: a real file system whose every write
// goes through the guard.
type rig struct {
	*loopmount.Loop
	t      *testing.T
	image  string
	images []string
	more   []*loopmount.Loop // of the disks after the first
	daemon *Daemon
	seen   *recorder
}

// recorder is a Sink that keeps events; it is read while the guard runs.
type recorder struct {
	mu  sync.Mutex
	all events
}

func (r *recorder) Event(ev *Event) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.all = append(r.all, ev)
}

func (r *recorder) events() events {
	r.mu.Lock()
	defer r.mu.Unlock()
	return append(events(nil), r.all...)
}

// mkfs makes an image with Debian's defaults for a file system, but for what options say.
func mkfs(t *testing.T, fs string, size int64, options ...string) string {
	t.Helper()
	image := blankImage(t, size)
	quiet := map[string][]string{"btrfs": {"-q", "-f"}, "ext3": {"-q", "-F"}}[fs]
	run(t, "mkfs."+fs, slices.Concat(quiet, options, []string{image})...)
	return image
}

func blankImage(t *testing.T, size int64) string {
	t.Helper()
	image := filepath.Join(t.TempDir(), "disk.img")
	if err := os.WriteFile(image, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Truncate(image, size); err != nil {
		t.Fatal(err)
	}
	return image
}

// run runs a program that has to succeed; these are the peers, so one that is missing is a failure.
func run(t *testing.T, name string, args ...string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Minute)
	defer cancel()
	out, err := exec.CommandContext(ctx, name, args...).CombinedOutput()
	if err != nil {
		t.Fatalf("%s %s: %v (make setup installs it if it is missing)\n%s", name, strings.Join(args, " "), err, out)
	}
}

// attach guards an image and gives it to the kernel as a loop device.
func attach(t *testing.T, image string, change func(*Config)) *rig {
	t.Helper()
	return attachDisks(t, []string{image}, change)
}

// attachDisks guards the disks of one guest, which are called disk, disk1, disk2, …
func attachDisks(t *testing.T, images []string, change func(*Config)) *rig {
	t.Helper()
	if os.Getuid() != 0 {
		t.Fatal("loop mounts need root: run the tests as root")
	}
	r := &rig{t: t, image: images[0], images: images, seen: &recorder{}}
	cfg := Config{FS: detect.Auto, OnViolation: OnRefuse, Simulate: true, Sinks: []Sink{r.seen}}
	for i, image := range images {
		cfg.Disks = append(cfg.Disks, DiskSpec{Name: strings.TrimSuffix(fmt.Sprintf("disk%d", i), "0"), Path: image})
	}
	if change != nil {
		change(&cfg)
	}
	log := zaptest.NewLogger(t, zaptest.Level(zap.WarnLevel))
	var err error
	if r.daemon, err = Open(cfg, log); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(r.close)
	for i, spec := range cfg.Disks {
		loop, err := loopmount.Attach(context.Background(), r.daemon.Devices()[spec.Name], log)
		if err != nil {
			t.Fatal(err)
		}
		loop.Timeout = 3 * time.Minute
		if i == 0 {
			r.Loop = loop
		} else {
			r.more = append(r.more, loop)
		}
	}
	return r
}

// close ends the rig; called again it does nothing.
func (r *rig) close() {
	if r.daemon == nil {
		return
	}
	loops := r.more
	if r.Loop != nil {
		loops = append([]*loopmount.Loop{r.Loop}, loops...)
	}
	for _, loop := range loops {
		if err := loop.Close(); err != nil {
			r.t.Errorf("closing the loop: %v", err)
		}
	}
	if err := r.daemon.Close(); err != nil {
		r.t.Errorf("closing the daemon: %v", err)
	}
	r.daemon = nil
}

// mustMount mounts the file system that is on the disks; those that are blank are none of it.
func (r *rig) mustMount(fs string, opts ...string) {
	r.t.Helper()
	for i, m := range r.more {
		if blank, err := detect.Blank(r.daemon.disks[i+1].file); err != nil || blank {
			continue
		}
		opts = append(opts, "device="+m.LoopDev)
	}
	if err := r.Mount(fs, opts...); err != nil {
		r.noAlarm()
		r.t.Fatal(err)
	}
}

// mustRun runs a script that has to succeed.
func (r *rig) mustRun(script string) string {
	r.t.Helper()
	out, err := r.Run(context.Background(), script)
	if err != nil {
		r.noAlarm() // most often says why
		r.t.Fatal(err)
	}
	return string(out)
}

// noAlarm fails the test for every event that does not hold and returns the number of commits.
func (r *rig) noAlarm() int {
	r.t.Helper()
	commits := 0
	for _, ev := range r.seen.events() {
		if ev.Outcome != change.Holds {
			r.t.Errorf("false alarm: %s", textOf(ev))
		}
		if ev.Kind == KindCommit {
			commits++
		}
	}
	return commits
}

// mustBeClean lets the file system's own checker judge an image.
func mustBeClean(t *testing.T, fs, image string) {
	t.Helper()
	switch fs {
	case "btrfs":
		run(t, "btrfs", "check", image)
	case "ext3":
		run(t, "e2fsck", "-fn", image)
	}
}

// recover lets the file system's own means bring an image up to its last commit, as the next mount would.
func recoverImage(t *testing.T, fs, image string) {
	t.Helper()
	if fs == "ext3" {
		run(t, "e2fsck", "-p", "-E", "journal_only", image)
	}
}
