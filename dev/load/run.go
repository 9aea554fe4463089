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

// A Run puts a file system under load, in one or several lives of the machine that mounts it.
type Run struct {
	FS      string   // "btrfs" or "ext3"
	Type    string   // type for mount; "" selects FS
	Mount   []string // options of mount
	Stages  []Stage
	Timeout time.Duration // of each stage
	// mounts the file system in its kernel, as root with all capabilities; nil: the host's own kernel
	// does, through loop devices
	Guest *uml.Machine
}

// A Stage is one life of the machine. sh -e runs its scripts. $DISKS are the block devices, and
// $FIRST is the first that holds the file system.
type Stage struct {
	Script  string        // runs in the root of the mounted file system; "": it is not mounted
	Offline string        // runs after that, on the unmounted devices
	Cut     time.Duration // time after which the machine loses its power, or its disks; 0: never
}

// Guarded does the run under a guard and leaves its disks unmounted. Disks without a file system
// are there for the scripts. It returns the time of the stages, from mount to unmount.
func (r Run) Guarded(ctx context.Context, cfg guard.Config,
	log *zap.Logger) (took time.Duration, err error) {
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

// Unguarded does the run through the same transport, without a check of the writes.
func (r Run) Unguarded(ctx context.Context, image string,
	log *zap.Logger) (took time.Duration, err error) {
	file, err := blocktap.OpenFile(image, blocktap.FileOptions{})
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, file.Flush(), file.Close()) }()
	return r.on(ctx, []*blocktap.Device{blocktap.NewDevice(file, nil)}, log)
}

func (r Run) on(ctx context.Context, devices []*blocktap.Device,
	log *zap.Logger) (took time.Duration, err error) {
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

// holding reports for each disk whether it has the file system or a part of it, and returns the
// first one.
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

// mountType returns the name of the file system for mount.
func (r Run) mountType() string {
	if r.Type != "" {
		return r.Type
	}
	return r.FS
}
