package guardtest

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"fsward/change"
	"fsward/hostd/guard"
	"fsward/hostd/offline"
	"fsward/interp/detect"
)

// Mkfs makes an image of a file system with Debian's defaults and the given options.
func Mkfs(t *testing.T, fs string, size int64, options ...string) string {
	t.Helper()
	image := BlankImage(t, size)
	quiet := map[string][]string{"btrfs": {"-q", "-f"}, "ext3": {"-q", "-F"}}[fs]
	Run(t, "mkfs."+fs, slices.Concat(quiet, options, []string{image})...)
	return image
}

// BlankImage makes an image of zeros.
func BlankImage(t *testing.T, size int64) string {
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

// Run runs a program that must succeed. It is one of the peers that check fsward, so the test fails
// if it is missing.
func Run(t testing.TB, name string, args ...string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Minute)
	defer cancel()
	out, err := exec.CommandContext(ctx, name, args...).CombinedOutput()
	if err != nil {
		t.Fatalf("%s %s: %v (make setup installs it if it is missing)\n%s", name, strings.Join(args, " "),
			err, out)
	}
}

// MadeDisks makes a Btrfs on several images.
func MadeDisks(t *testing.T, disks int, size int64, options ...string) []string {
	t.Helper()
	images := BlankDisks(t, disks, size)
	Run(t, "mkfs.btrfs", append(append([]string{"-q", "-f"}, options...), images...)...)
	return images
}

// BlankDisks makes images of zeros.
func BlankDisks(t *testing.T, disks int, size int64) []string {
	t.Helper()
	dir := t.TempDir()
	var images []string
	for i := range disks {
		image := filepath.Join(dir, fmt.Sprintf("disk%d.img", i))
		if err := os.WriteFile(image, nil, 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Truncate(image, size); err != nil {
			t.Fatal(err)
		}
		images = append(images, image)
	}
	return images
}

// MustBeClean checks an image with the file system's own checker.
func MustBeClean(t *testing.T, fs, image string) {
	t.Helper()
	switch fs {
	case "btrfs":
		Run(t, "btrfs", "check", image)
	case "ext3":
		Run(t, "e2fsck", "-fn", image)
	}
}

// RecoverImage recovers an image to its last commit by the file system's own means, as the next
// mount would.
func RecoverImage(t *testing.T, fs, image string) {
	t.Helper()
	if fs == "ext3" {
		Run(t, "e2fsck", "-p", "-E", "journal_only", image)
	}
}

// MustHold checks the disks of one file system with fsward check.
func MustHold(t *testing.T, images []string) {
	t.Helper()
	ev, err := offline.Check(t.Context(), images, detect.Auto, guard.RulesConfig{})
	if err != nil {
		t.Fatal(err)
	}
	if ev.Outcome != change.Holds {
		t.Errorf("false alarm: %s", TextOf(ev))
	}
}
