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
	"strings"
	"time"

	"go.uber.org/zap"

	"fsward/blocktap"
	"fsward/blocktap/fuse/loopmount"
	"fsward/hostd"
	"fsward/interp/detect"
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

// Make makes a file system ("btrfs", "ext3") on new files of so many bytes each.
func Make(ctx context.Context, fs string, images []string, size int64, options ...string) error {
	for _, image := range images {
		if err := Blank(image, size); err != nil {
			return err
		}
	}
	return Command(ctx, "mkfs."+fs, slices.Concat([]string{"-q"}, options, images)...)
}

// Blank makes a new file of zeros.
func Blank(image string, size int64) error {
	f, err := os.Create(image)
	if err != nil {
		return err
	}
	return errors.Join(f.Truncate(size), f.Close())
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
	Script  string   // run by sh -e in the root of the file system; $DISKS are its block devices
	Timeout time.Duration
	// After is done when the file system is unmounted, with its block devices still there: "" in the place of
	// those that hold none of it. Nil: nothing.
	After func(devices []string) error
}

// Guarded does the run under a guard of cfg and leaves its disks unmounted; those that hold no file system
// at the start are there for the script. The time is that of the script and of unmounting.
func (r Run) Guarded(ctx context.Context, cfg hostd.Config, log *zap.Logger) (took time.Duration, err error) {
	d, err := hostd.Open(cfg, log)
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, d.Close()) }()
	devices := make([]*blocktap.Device, len(cfg.Disks))
	for i, spec := range cfg.Disks {
		devices[i] = d.Devices()[spec.Name]
	}
	return r.on(ctx, devices, log)
}

// Unguarded does the run through the same transport with nothing that looks at the writes.
func (r Run) Unguarded(ctx context.Context, image string, log *zap.Logger) (took time.Duration, err error) {
	file, err := blocktap.OpenFile(image, blocktap.FileOptions{})
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, file.Flush(), file.Close()) }()
	return r.on(ctx, []*blocktap.Device{blocktap.NewDevice(file, nil)}, log)
}

func (r Run) on(ctx context.Context, devices []*blocktap.Device, log *zap.Logger) (took time.Duration, err error) {
	var loops []*loopmount.Loop
	var names []string
	options := slices.Clone(r.Mount)
	for i, device := range devices {
		m, failed := loopmount.Attach(ctx, device, log)
		if failed != nil {
			return 0, failed
		}
		defer func() { err = errors.Join(err, m.Close()) }()
		if i > 0 {
			defer func() { err = errors.Join(err, loops[0].Unmount()) }() // before any of its devices goes
		}
		m.Timeout = 5 * time.Minute
		loops, names = append(loops, m), append(names, m.LoopDev)
		if i > 0 && r.holds(device) {
			options = append(options, "device="+m.LoopDev)
		}
	}
	m := loops[0]
	if err := m.Mount(r.FS, append(options, "noatime")...); err != nil {
		return 0, err
	}
	limited, cancel := context.WithTimeout(ctx, r.Timeout)
	defer cancel()
	start := time.Now()
	if out, err := m.Run(limited, fmt.Sprintf("export DISKS='%s'\n%s", strings.Join(names, " "), r.Script)); err != nil {
		return 0, fmt.Errorf("the load: %w: %s", err, out)
	}
	err = m.Unmount()
	took = time.Since(start)
	if err == nil && r.After != nil {
		for i, device := range devices {
			if !r.holds(device) {
				names[i] = ""
			}
		}
		err = r.After(names)
	}
	return took, err
}

// holds tells whether a disk has the file system, or a part of it.
func (r Run) holds(device *blocktap.Device) bool {
	name, err := detect.Name(device.Disk(), detect.Auto)
	return err == nil && name == r.FS
}
