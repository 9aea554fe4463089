// Package load puts a file system under load in the host's own kernel, guarded or not: what soak tests
// and measurements of a real file system have in common.
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

	"go.uber.org/zap"

	"fsward/blocktap"
	"fsward/blocktap/fuse/loopmount"
	"fsward/hostd"
)

// Build builds fsload, the program that makes random loads, into a folder and returns its path. It is a
// process of its own, since the one that serves a device must not wait for the file system on it.
func Build(ctx context.Context, dir string) (string, error) {
	path := filepath.Join(dir, "fsload")
	cmd := exec.CommandContext(ctx, "go", "build", "-o", path, "fsward/hostd/load/fsload")
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := cmd.CombinedOutput(); err != nil {
		return "", fmt.Errorf("building fsload: %w: %s", err, out)
	}
	return path, nil
}

// Make makes a file system ("btrfs", "ext3") of so many bytes in a new file.
func Make(ctx context.Context, fs, image string, size int64, options ...string) error {
	f, err := os.Create(image)
	if err != nil {
		return err
	}
	if err := errors.Join(f.Truncate(size), f.Close()); err != nil {
		return err
	}
	return Command(ctx, "mkfs."+fs, append(append([]string{"-q"}, options...), image)...)
}

// Check lets the file system's own checker judge an image.
func Check(ctx context.Context, fs, image string) error {
	if fs == "btrfs" {
		return Command(ctx, "btrfs", "check", image)
	}
	return Command(ctx, "e2fsck", "-fn", image)
}

// Command runs a program that has to succeed within ten minutes.
func Command(ctx context.Context, name string, args ...string) error {
	ctx, cancel := context.WithTimeout(ctx, 10*time.Minute)
	defer cancel()
	out, err := exec.CommandContext(ctx, name, args...).CombinedOutput()
	if err != nil {
		return fmt.Errorf("%s: %w: %.4000s", name, err, out)
	}
	return nil
}

// A Run is a shell script on a mounted file system.
type Run struct {
	FS      string
	Mount   []string // options of mount
	Script  string   // run by sh -e in the root of the file system
	Timeout time.Duration
}

// Guarded does the run under a guard of cfg, whose only disk is the image, and leaves the image
// unmounted. The time is that of the script and of unmounting.
func (r Run) Guarded(ctx context.Context, cfg hostd.Config, log *zap.Logger) (took time.Duration, err error) {
	d, err := hostd.Open(cfg, log)
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, d.Close()) }()
	return r.on(ctx, d.Devices()[cfg.Disks[0].Name], log)
}

// Unguarded does the run through the same transport with nothing that looks at the writes.
func (r Run) Unguarded(ctx context.Context, image string, log *zap.Logger) (took time.Duration, err error) {
	file, err := blocktap.OpenFile(image, blocktap.FileOptions{})
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, file.Flush(), file.Close()) }()
	return r.on(ctx, blocktap.NewDevice(file, nil), log)
}

func (r Run) on(ctx context.Context, device *blocktap.Device, log *zap.Logger) (took time.Duration, err error) {
	m, err := loopmount.Attach(ctx, device, log)
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, m.Close()) }()
	m.Timeout = 5 * time.Minute
	if err := m.Mount(r.FS, append(slices.Clone(r.Mount), "noatime")...); err != nil {
		return 0, err
	}
	limited, cancel := context.WithTimeout(ctx, r.Timeout)
	defer cancel()
	start := time.Now()
	if out, err := m.Run(limited, r.Script); err != nil {
		return 0, fmt.Errorf("the load: %w: %s", err, out)
	}
	err = m.Unmount()
	return time.Since(start), err
}
