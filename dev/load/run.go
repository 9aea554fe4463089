package load

import (
	"context"
	"errors"
	"fmt"
	"time"

	"go.uber.org/zap"

	"fsward/blocktap"
	"fsward/dev/uml"
	"fsward/hostd/guard"
	"fsward/interp/detect"
)

// A Run is what is done to a file system, in one or several lives of the machine that mounts it.
type Run struct {
	FS      string   // "btrfs", "ext3"
	Type    string   // as mount calls it; "": FS
	Mount   []string // options of mount
	Stages  []Stage
	Timeout time.Duration // of each stage
	Guest   *uml.Machine  // whose kernel mounts it, as root with all rights; nil: the host's own, through loop devices
}

// A Stage is one life of the machine. Its scripts are run by sh -e. $DISKS are the block devices, $FIRST the first
// that holds the file system.
type Stage struct {
	Script  string        // run in the root of the mounted file system; "": it is not mounted
	Offline string        // run then, on the unmounted devices
	Cut     time.Duration // after so long the machine loses its power, or its disks; 0: it does not
}

// Guarded does the run under a guard of cfg and leaves its disks unmounted; those that hold no file system
// at the start are there for the scripts. The time is that of the stages, from mounted to unmounted.
func (r Run) Guarded(ctx context.Context, cfg guard.Config, log *zap.Logger) (took time.Duration, err error) {
	d, err := guard.Open(cfg, log)
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
	live := r.throughLoop
	if r.Guest != nil {
		live = r.inGuest
	}
	for i, st := range r.Stages {
		t, err := live(ctx, st, devices, log)
		if took += t; err != nil {
			return took, fmt.Errorf("stage %d: %w", i, err)
		}
	}
	return took, nil
}

// holding tells of each disk whether it has the file system, or a part of it, and which is the first.
func (r Run) holding(devices []*blocktap.Device) (holds []bool, first int, err error) {
	first = -1
	for i, device := range devices {
		name, err := detect.Name(device.Disk(), detect.Auto)
		holds = append(holds, err == nil && name == r.FS)
		if holds[i] && first < 0 {
			first = i
		}
	}
	if first < 0 {
		return nil, 0, fmt.Errorf("no %s on any of %d disks", r.FS, len(devices))
	}
	return holds, first, nil
}

// mountType is the name of the file system for mount.
func (r Run) mountType() string {
	if r.Type != "" {
		return r.Type
	}
	return r.FS
}
