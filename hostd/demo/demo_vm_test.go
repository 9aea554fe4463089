//go:build vmtest

package demo

import (
	"context"
	"os"
	"strings"
	"testing"

	"fsward/hostd/guardtest"

	"go.uber.org/zap/zaptest"
)

// TestGuestDemo runs the demonstration: a guest under libvirt on two guarded disks, a refusal on
// each, a second guest that compares the synced files, and the file systems' own checkers. Run
// fails if any of that fails; this test only checks the output.
func TestGuestDemo(t *testing.T) {
	guest := guardtest.BuildGuest(t)
	dir, err := os.MkdirTemp("", "fsward-demo-")
	if err != nil {
		t.Fatal(err)
	}
	var out strings.Builder
	err = Run(context.Background(), Config{GuestDir: guest, Dir: dir, Rounds: 6, Out: &out},
		zaptest.NewLogger(t))
	t.Log(out.String())
	if err != nil {
		t.Fatalf("%v (the consoles are in %s)", err, dir)
	}
	for _, want := range []string{"violated, refused (btrfs/14)", "violated, refused (ext3/7)",
		"On each disk one was refused"} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("the demonstration does not say %q", want)
		}
	}
	if err := os.RemoveAll(dir); err != nil {
		t.Error(err)
	}
}
