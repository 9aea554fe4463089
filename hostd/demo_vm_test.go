//go:build vmtest

package hostd

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"go.uber.org/zap/zaptest"
)

// TestGuestDemo runs the demonstration: a guest under libvirt on two guarded disks, a refusal on each, a
// second guest that compares what was synced, and the file systems' own checkers. Demo fails if any of
// that does not come out; here it only has to have been told.
func TestGuestDemo(t *testing.T) {
	guest := buildGuest(t)
	dir, err := os.MkdirTemp("", "fsward-demo-")
	if err != nil {
		t.Fatal(err)
	}
	var out strings.Builder
	err = Demo(context.Background(), DemoConfig{GuestDir: guest, Dir: dir, Rounds: 6, Out: &out}, zaptest.NewLogger(t))
	t.Log(out.String())
	if err != nil {
		t.Fatalf("%v (the consoles are in %s)", err, dir)
	}
	for _, want := range []string{"violated, refused (btrfs/14)", "violated, refused (ext3/7)", "On each disk one was refused"} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("the demonstration does not say %q", want)
		}
	}
	if err := os.RemoveAll(dir); err != nil {
		t.Error(err)
	}
}

// buildGuest builds the kernel and the initramfs, or finds them built, in the folder that $FSWARD_GUEST names, and returns that.
func buildGuest(t *testing.T) string {
	t.Helper()
	dir, err := filepath.Abs(guestDir())
	if err != nil {
		t.Fatal(err)
	}
	if out, err := exec.Command("../guest/build.sh", dir).CombinedOutput(); err != nil {
		t.Fatalf("cannot build the guest: %v\n%s", err, out)
	}
	return dir
}
