//go:build vmtest

package vmrun

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"go.uber.org/zap"
	"go.uber.org/zap/zaptest"
	"golang.org/x/sys/unix"

	"fsward/change"
	"fsward/hostd/guard"
	"fsward/hostd/guardtest"
	"fsward/hostd/vm"
	"fsward/interp/detect"
)

// TestGuestOnAFullHost fills the host's disk under the images of a guest. The guest is suspended,
// sees no error, and goes on once there is room.
func TestGuestOnAFullHost(t *testing.T) {
	guestDir := guardtest.BuildGuest(t)
	dir, full := t.TempDir(), t.TempDir()
	guardtest.Run(t, "mount", "-t", "tmpfs", "-o", "size=256M", "fsward-full", full)
	defer guardtest.Run(t, "umount", full)
	seen := &guardtest.Recorder{}
	cfg := sparseDisks(t, full)
	cfg.RunDir, cfg.Sinks = filepath.Join(dir, "run"), []guard.Sink{seen}
	ctx, cancel := context.WithTimeout(t.Context(), 3*time.Minute)
	defer cancel()
	s, err := Open(ctx, cfg, zaptest.NewLogger(t, zaptest.Level(zap.ErrorLevel)))
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	}()
	guest, err := s.Start(ctx, vm.Config{Name: "fsward-full",
		Kernel:    filepath.Join(guestDir, "vmlinuz"),
		Initramfs: filepath.Join(guestDir, "initramfs.cpio.zst"),
		Cmdline:   "fsward.btrfs=btrfs fsward.ext3=ext3", Channel: true})
	if err != nil {
		t.Fatal(err)
	}
	work := vm.NewWorkload(guest.Channel())
	if err := work.Ready(ctx); err != nil {
		t.Fatal(err)
	}
	filler := filepath.Join(full, "filler")
	fill(t, filler, full)
	const rounds = 2
	ended := make(chan error, 1)
	go func() { ended <- work.Go(ctx, rounds, "") }()
	waitSuspended(ctx, t, s, "paused (I/O error)")
	if err := os.Remove(filler); err != nil {
		t.Fatal(err)
	}
	virsh(ctx, t, s, "resume", "fsward-full")
	if err := <-ended; err != nil {
		t.Fatal(err)
	}
	for _, fs := range []string{"btrfs", "ext3"} {
		if p := work.Progress(fs); p.Synced != rounds || p.ReadOnly || p.Failed != "" {
			t.Errorf("%s: %+v, want %d rounds", fs, p, rounds)
		}
	}
	if err := work.Stop(); err != nil {
		t.Fatal(err)
	}
	if end, err := guest.Wait(ctx); err != nil || !end.Clean() {
		t.Errorf("the guest ended: %s, %v", end, err)
	}
	holdsAndIsClean(t, seen, cfg.Disks)
}

// holdsAndIsClean checks that all commits held and that Linux's programs find no fault.
func holdsAndIsClean(t *testing.T, seen *guardtest.Recorder, disks []guard.DiskSpec) {
	t.Helper()
	for _, ev := range seen.Events() {
		if ev.Outcome != change.Holds {
			t.Errorf("false alarm: %s", guardtest.TextOf(ev))
		}
	}
	for _, d := range disks {
		guardtest.MustBeClean(t, d.Name, d.Path)
	}
}

// sparseDisks returns the configuration of a guard with two empty disks of 512 MiB in dir.
func sparseDisks(t *testing.T, dir string) Config {
	t.Helper()
	var cfg Config
	cfg.FS, cfg.Policies = detect.Auto, guard.Policies{OnViolation: guard.OnRefuse}
	for _, fs := range []string{"btrfs", "ext3"} {
		image := filepath.Join(dir, fs)
		guardtest.Run(t, "truncate", "-s", "512M", image)
		cfg.Disks = append(cfg.Disks, guard.DiskSpec{Name: fs, Path: image})
	}
	return cfg
}

// fill leaves a megabyte on a file system.
func fill(t *testing.T, filler, on string) {
	t.Helper()
	var st unix.Statfs_t
	if err := unix.Statfs(on, &st); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filler, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	f, err := os.OpenFile(filler, os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if err := unix.Fallocate(int(f.Fd()), 0, 0, int64(st.Bavail)*st.Bsize-1<<20); err != nil {
		t.Fatal(err)
	}
}

// virsh runs a command of virsh on the libvirt of a session, and returns what it prints.
func virsh(ctx context.Context, t *testing.T, s *Session, args ...string) string {
	t.Helper()
	out, err := exec.CommandContext(ctx, "virsh", append([]string{"--connect", s.host.URI()},
		args...)...).CombinedOutput()
	if err != nil {
		t.Fatalf("virsh %s: %v %s", strings.Join(args, " "), err, out)
	}
	return strings.TrimSpace(string(out))
}

// waitSuspended waits until the domain is in a state.
func waitSuspended(ctx context.Context, t *testing.T, s *Session, want string) {
	t.Helper()
	for ; ctx.Err() == nil; time.Sleep(200 * time.Millisecond) {
		if virsh(ctx, t, s, "domstate", "--reason", "fsward-full") == want {
			return
		}
	}
	t.Fatalf("the guest is not %q", want)
}
