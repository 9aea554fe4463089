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

	"go.uber.org/zap/zaptest"

	"fsward/hostd/daemon"
	"fsward/hostd/guard"
	"fsward/hostd/guardtest"
	"fsward/hostd/vm"
	"fsward/interp/detect"
	"fsward/invariants/bundle"
)

// TestGuestIsPaused pauses a real guest: libvirt suspends it while its commit is held, because the
// rule that the commit violates has the severity pause. After the operator has rejected the commit,
// the guest goes on with its file system read-only.
func TestGuestIsPaused(t *testing.T) {
	dir, err := os.MkdirTemp("", "fsward-pause-")
	if err != nil {
		t.Fatal(err)
	}
	defer os.RemoveAll(dir)
	image := filepath.Join(dir, "ext3.img")
	guardtest.Run(t, "truncate", "-s", "512M", image)
	guestDir := guardtest.BuildGuest(t)
	ctx, cancel := context.WithTimeout(context.Background(), 3*time.Minute)
	defer cancel()

	s := openPausing(ctx, t, filepath.Join(dir, "run"), image)
	defer func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	}()
	guest, err := s.Start(ctx, vm.Config{
		Name:      "fsward-pause",
		Kernel:    filepath.Join(guestDir, "vmlinuz"),
		Initramfs: filepath.Join(guestDir, "initramfs.cpio.zst"),
		Cmdline:   "fsward.btrfs=none fsward.ext3=ext3",
		Channel:   true,
	})
	if err != nil {
		t.Fatal(err)
	}
	defer guest.Close()
	work := vm.NewWorkload(guest.Channel())
	if err := work.Ready(ctx); err != nil {
		t.Fatal(err)
	}
	if err := work.Go(ctx, 1, ""); err != nil {
		t.Fatal(err)
	}
	if err := s.Simulator("ext3").Arm("inode.links_count+1"); err != nil {
		t.Fatal(err)
	}
	// The guest is found by its name, as fsward guard --domain finds somebody else's.
	found, err := vm.Find(ctx, s.host.URI(), "fsward-pause", zaptest.NewLogger(t))
	if err != nil {
		t.Fatal(err)
	}
	s.guest.set(found)
	rejectCommit(ctx, t, s, work)
	if p := work.Progress("ext3"); !p.ReadOnly || p.Synced != 1 {
		t.Errorf("after the rejection: %+v, want read-only after round 1", p)
	}
	if err := work.Stop(); err != nil {
		t.Fatal(err)
	}
	if _, err := guest.Wait(ctx); err != nil {
		t.Fatal(err)
	}
	guardtest.RecoverImage(t, "ext3", image)
	guardtest.MustBeClean(t, "ext3", image)
}

// openPausing opens a session that refuses violated commits of its ext3 disk, and pauses the guest
// when they violate the rule about link counts.
func openPausing(ctx context.Context, t *testing.T, runDir, image string) *Session {
	t.Helper()
	site := t.TempDir()
	const manifest = `{"format": 1, "name": "test", "version": "1",
"rules": {"ext3/7": {"severity": "pause", "reason": "a person decides"}}}`
	if err := os.WriteFile(filepath.Join(site, bundle.Manifest), []byte(manifest), 0o600); err != nil {
		t.Fatal(err)
	}
	cfg := guard.Config{
		Disks:    []guard.DiskSpec{{Name: "ext3", Path: image}},
		FS:       detect.Auto,
		Policies: guard.Policies{OnViolation: guard.OnRefuse},
		Rules:    guard.RulesConfig{Add: []string{site}},
		Control:  true,
		Simulate: true,
		Sinks:    []guard.Sink{&guardtest.Recorder{}},
	}
	session := Config{RunDir: runDir, Config: daemon.Config{Config: cfg}}
	s, err := Open(ctx, session, zaptest.NewLogger(t))
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// rejectCommit runs two rounds of the workload, whose commit is held, waits until the guest is
// paused, and rejects the commit.
func rejectCommit(ctx context.Context, t *testing.T, s *Session, work *vm.Workload) {
	t.Helper()
	rounds := make(chan error, 1)
	go func() { rounds <- work.Go(ctx, 2, "") }()

	holder, err := s.Holder("ext3")
	if err != nil {
		t.Fatal(err)
	}
	guardtest.WaitHeld(t, holder)
	for deadline := time.Now().Add(10 * time.Second); ; time.Sleep(100 * time.Millisecond) {
		state, err := exec.Command("virsh", "--connect", s.host.URI(), "domstate",
			"fsward-pause").CombinedOutput()
		if err != nil {
			t.Fatalf("virsh domstate: %v %s", err, state)
		}
		if strings.TrimSpace(string(state)) == "paused" {
			break
		}
		if time.Now().After(deadline) {
			t.Fatalf("the guest is %q while its commit is held", state)
		}
	}
	select {
	case err := <-rounds:
		t.Fatalf("the guest's rounds ended while its commit was held: %v", err)
	case <-time.After(time.Second):
	}
	if err := holder.Release(false); err != nil {
		t.Fatal(err)
	}
	if err := <-rounds; err != nil {
		t.Fatal(err)
	}
}
