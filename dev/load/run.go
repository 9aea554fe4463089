package load

import (
	"context"
	"errors"
	"fmt"
	"time"

	"go.uber.org/zap"

	"fsward/blocktap"
	"fsward/explore/uml"
	"fsward/hostd/guard"
	"fsward/interp/detect"
)

// A Run puts a file system under load in one or several stages.
type Run struct {
	FS      string   // "btrfs" or "ext3"
	Type    string   // type for mount; "" selects FS
	Mount   []string // options of mount
	Stages  []Stage
	Timeout time.Duration // of each stage
	// Guest mounts the file system, as root with all capabilities. If it is nil, the host's own kernel
	// does, through loop devices.
	Guest *uml.Machine
	// Ready is called before the first stage, when the guard has opened the disks and loaded the
	// rules; nil: it is not.
	Ready func()
	// Beside runs beside the stages of Guarded, which waits for its end. Its context ends with the
	// last stage. nil: nothing does.
	Beside func(ctx context.Context, d *guard.Disks) error
}

// A Stage mounts the file system, runs a script, and unmounts it or ends in a power cut. sh -e runs
// the scripts. Their variable $DISKS has the paths of all block devices, and $FIRST that of the
// first one with the file system.
type Stage struct {
	Script  string        // runs in the root of the mounted file system; "": no mount
	Offline string        // runs afterwards on the unmounted devices
	Cut     time.Duration // time from the mount to the power cut, or the loss of the disks; 0: never
}

// Guarded does the run under a guard and leaves its disks unmounted. The scripts may use disks
// without a file system. took is the time of all stages.
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
	if r.Beside != nil {
		staged, end := context.WithCancel(ctx)
		ended := make(chan error, 1)
		go func() { ended <- r.Beside(staged, d) }()
		defer func() {
			end()
			err = errors.Join(err, <-ended)
		}()
	}
	return r.on(ctx, devices, log)
}

// Unguarded does the run through the same transport without checks.
func (r Run) Unguarded(ctx context.Context, image string,
	log *zap.Logger) (took time.Duration, err error) {
	file, err := blocktap.OpenFile(image, blocktap.FileOptions{})
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, file.Flush(), file.Close()) }()
	return r.on(ctx, []*blocktap.Device{blocktap.NewDevice(file, nil)}, log)
}

// on runs the stages on devices.
func (r Run) on(ctx context.Context, devices []*blocktap.Device,
	log *zap.Logger) (took time.Duration, err error) {
	runStage := r.throughLoop
	if r.Guest != nil {
		runStage = r.inGuest
	}
	if r.Ready != nil {
		r.Ready()
	}
	for i, st := range r.Stages {
		t, err := runStage(ctx, st, devices, log)
		if took += t; err != nil {
			return took, fmt.Errorf("stage %d: %w", i, err)
		}
	}
	return took, nil
}

// members reports for each disk whether it belongs to the file system, and returns the index of the
// first that does.
func (r Run) members(devices []*blocktap.Device) (isMember []bool, first int, err error) {
	first = -1
	for i, device := range devices {
		name, err := detect.Name(device.Disk(), detect.Auto)
		isMember = append(isMember, err == nil && name == r.FS)
		if isMember[i] && first < 0 {
			first = i
		}
	}
	if first < 0 {
		return nil, 0, fmt.Errorf("none of the %d disks has a %s", len(devices), r.FS)
	}
	return isMember, first, nil
}

// mountType returns the file system type for mount.
func (r Run) mountType() string {
	if r.Type != "" {
		return r.Type
	}
	return r.FS
}
