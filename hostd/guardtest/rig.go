// Package guardtest gives tests a guarded disk that the host's own kernel has mounted. Start
// reading at Attach.
package guardtest

import (
	"context"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"go.uber.org/zap"
	"go.uber.org/zap/zaptest"

	"fsward/blocktap/fuse/loopmount"
	"fsward/change"
	"fsward/hostd/guard"
	"fsward/interp/detect"
)

// A Rig is a guarded image that the host's own kernel has mounted: a real file system whose every
// write goes through the guard.
type Rig struct {
	*loopmount.Loop
	T      *testing.T
	Image  string
	Images []string
	more   []*loopmount.Loop // of the disks after the first
	Daemon *guard.Disks
	Seen   *Recorder
}

// Attach guards an image and gives it to the kernel as a loop device.
func Attach(t *testing.T, image string, change func(*guard.Config)) *Rig {
	t.Helper()
	return AttachDisks(t, []string{image}, change)
}

// AttachDisks guards the disks of one guest, which are named disk, disk1, disk2, …
func AttachDisks(t *testing.T, images []string, change func(*guard.Config)) *Rig {
	t.Helper()
	if os.Getuid() != 0 {
		t.Fatal("loop mounts need root: run the tests as root")
	}
	r := &Rig{T: t, Image: images[0], Images: images, Seen: &Recorder{}}
	cfg := guard.Config{FS: detect.Auto,
		Policies: guard.Policies{OnViolation: guard.OnRefuse}, Simulate: true,
		Sinks: []guard.Sink{r.Seen}}
	for i, image := range images {
		cfg.Disks = append(cfg.Disks, guard.DiskSpec{Name: strings.TrimSuffix(fmt.Sprintf("disk%d", i),
			"0"), Path: image})
	}
	if change != nil {
		change(&cfg)
	}
	log := zaptest.NewLogger(t, zaptest.Level(zap.WarnLevel))
	var err error
	if r.Daemon, err = guard.Open(cfg, log); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(r.End)
	for i, spec := range cfg.Disks {
		loop, err := loopmount.Attach(context.Background(), r.Daemon.Devices()[spec.Name], log)
		if err != nil {
			t.Fatal(err)
		}
		loop.Timeout = 3 * time.Minute
		if i == 0 {
			r.Loop = loop
		} else {
			r.more = append(r.more, loop)
		}
	}
	return r
}

// End ends the rig. A second call does nothing.
func (r *Rig) End() {
	if r.Daemon == nil {
		return
	}
	loops := r.more
	if r.Loop != nil {
		loops = append([]*loopmount.Loop{r.Loop}, loops...)
	}
	for _, loop := range loops {
		if err := loop.Close(); err != nil {
			r.T.Errorf("closing the loop: %v", err)
		}
	}
	if err := r.Daemon.Close(); err != nil {
		r.T.Errorf("closing the daemon: %v", err)
	}
	r.Daemon = nil
}

// MustMount mounts the file system on the disks. Blank disks do not belong to it.
func (r *Rig) MustMount(fs string, opts ...string) {
	r.T.Helper()
	for i, m := range r.more {
		if blank, err := detect.Blank(r.Daemon.Device(r.Daemon.Names()[i+1]).Disk()); err != nil ||
			blank {
			continue
		}
		opts = append(opts, "device="+m.LoopDev)
	}
	if err := r.Mount(fs, opts...); err != nil {
		r.NoAlarm()
		r.T.Fatal(err)
	}
}

// MustRun runs a script that must succeed.
func (r *Rig) MustRun(script string) string {
	r.T.Helper()
	out, err := r.Run(context.Background(), script)
	if err != nil {
		r.NoAlarm() // most often says why
		r.T.Fatal(err)
	}
	return string(out)
}

// NoAlarm fails the test for every event that does not hold, and returns the number of commits.
func (r *Rig) NoAlarm() int {
	r.T.Helper()
	commits := 0
	for _, ev := range r.Seen.Events() {
		if ev.Outcome != change.Holds {
			r.T.Errorf("false alarm: %s", TextOf(ev))
		}
		if ev.Kind == guard.KindCommit {
			commits++
		}
	}
	return commits
}

// LoopOf returns the loop device of disk i.
func (r *Rig) LoopOf(i int) *loopmount.Loop {
	return append([]*loopmount.Loop{r.Loop}, r.more...)[i]
}

// DiskVariables returns shell text that sets DISK0, DISK1, … to the loop devices.
func (r *Rig) DiskVariables() string {
	text := "DISK0=" + r.LoopDev + "\n"
	for i, m := range r.more {
		text += fmt.Sprintf("DISK%d=%s\n", i+1, m.LoopDev)
	}
	return text
}
