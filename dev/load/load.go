// Package load puts a file system under load, in the host's own kernel or in user-mode Linux, with
// or without a guard. Soak tests and measurements use it. Start reading at Run.
package load

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"time"
)

// Build builds fsload, the program that makes random loads, in the folder dir and returns its path.
// The load needs its own process: a process that serves a device must not wait for the file system
// on this device.
func Build(ctx context.Context, dir string) (string, error) {
	path := filepath.Join(dir, "fsload")
	cmd := exec.CommandContext(ctx, "go", "build", "-o", path, "fsward/dev/load/fsload")
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := cmd.CombinedOutput(); err != nil {
		return "", fmt.Errorf("building fsload: %w: %s", err, out)
	}
	return path, nil
}

// Make makes a file system ("btrfs", "ext3") on new files of size bytes each.
func Make(ctx context.Context, fs string, images []string, size int64, options ...string) error {
	for _, image := range images {
		if err := Blank(image, size); err != nil {
			return err
		}
	}
	return Command(ctx, "mkfs."+fs, slices.Concat([]string{"-q"}, options, images)...)
}

// Blank makes a new sparse file of size bytes.
func Blank(image string, size int64) error {
	f, err := os.Create(image)
	if err != nil {
		return err
	}
	return errors.Join(f.Truncate(size), f.Close())
}

// Check returns a shell script that runs the checker of the file system fs, for Stage.Offline.
func Check(fs string) string {
	if fs == "btrfs" {
		return "btrfs check $FIRST"
	}
	return "e2fsck -fn $FIRST"
}

// Command runs a program. It fails if the program fails or takes more than ten minutes.
func Command(ctx context.Context, name string, args ...string) error {
	ctx, cancel := context.WithTimeout(ctx, 10*time.Minute)
	defer cancel()
	out, err := exec.CommandContext(ctx, name, args...).CombinedOutput()
	if err != nil {
		return fmt.Errorf("%s: %w: %.4000s", name, err, out)
	}
	return nil
}
