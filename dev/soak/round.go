package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"fsward/change"
	"fsward/dev/load"
	"fsward/hostd/guard"
	"fsward/hostd/offline"
	"fsward/interp/detect"
)

// A round is one new file system under one load.
type round struct {
	*config
	number  int
	random  *rand.Rand
	variant variant
	load    workload
}

func (r *round) name() string { return fmt.Sprintf("%s, %s", r.variant.name, r.load.name) }

// A collector is a guard.Sink that counts commits and keeps the first ten events that do not hold.
type collector struct {
	pressed bool // undecided events are counted, and not kept

	mu     sync.Mutex
	counts counts
	alarms []*guard.Event
}

// Event counts an event.
func (c *collector) Event(ev *guard.Event) {
	c.mu.Lock()
	defer c.mu.Unlock()
	switch ev.Kind {
	case guard.KindCommit:
		c.counts.commits++
	case guard.KindLogCommit:
		c.counts.logCommits++
	}
	c.counts.records += ev.Records
	if c.pressed && ev.Outcome == change.Undecided {
		c.counts.undecided++
		return
	}
	if ev.Outcome != change.Holds && len(c.alarms) < 10 {
		c.alarms = append(c.alarms, ev)
	}
}

// result returns the counts, and an error with the report of the kept events, if any.
func (c *collector) result() (counts, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.alarms) == 0 {
		return c.counts, nil
	}
	var text strings.Builder
	report := guard.NewTextReport(&text)
	for _, ev := range c.alarms {
		report.Event(ev)
	}
	return c.counts, fmt.Errorf("false alarms:\n%s", &text)
}

// run makes the file system, puts it under load with the guard, and checks the result with the file
// system's own checker and with fsward check.
func (r *round) run(ctx context.Context) (counts, error) {
	dir := filepath.Join(r.dir, r.folder(r.number))
	if err := os.Mkdir(dir, 0o700); err != nil {
		return counts{}, err
	}
	defer os.RemoveAll(dir)
	var images []string
	for i := range r.variant.disks + r.variant.spare {
		images = append(images, filepath.Join(dir, fmt.Sprintf("disk%d.img", i)))
	}
	if err := r.make(ctx, images[:r.variant.disks]); err != nil {
		return counts{}, err
	}
	for _, image := range images[r.variant.disks:] {
		if err := load.Blank(image, r.variant.size); err != nil {
			return counts{}, err
		}
	}
	if r.keep != "" {
		for _, image := range images {
			if err := load.Command(ctx, "cp", "--sparse=always", image, image+".base"); err != nil {
				return counts{}, err
			}
		}
	}
	seen := &collector{pressed: r.pressed}
	err := r.guarded(ctx, images, dir, seen)
	got, alarms := seen.result()
	got.rounds = 1
	err = errors.Join(alarms, err)
	return got, r.keepFailed(ctx, dir, err)
}

// make makes the file system at the size at which the load starts, and then enlarges the images to
// the size of the variant.
func (r *round) make(ctx context.Context, images []string) error {
	if err := load.Make(ctx, r.fs, images, cmp.Or(r.load.start, r.variant.size),
		r.variant.mkfs...); err != nil {
		return err
	}
	for _, image := range images {
		if err := os.Truncate(image, r.variant.size); err != nil {
			return err
		}
	}
	return nil
}

// guarded runs the load on images under the guard and checks the result.
func (r *round) guarded(ctx context.Context, images []string, dir string,
	seen *collector) (err error) {
	cfg := guard.Config{
		FS:          detect.Auto,
		Policies:    guard.Policies{OnViolation: guard.OnRefuse},
		Verify:      true,
		LagTimeout:  guard.DefaultLagTimeout,
		Sinks:       []guard.Sink{seen},
		DataOrdered: !slices.Contains(r.variant.mount, "data=writeback"),
	}
	for i, image := range images {
		cfg.Disks = append(cfg.Disks, guard.DiskSpec{Name: fmt.Sprintf("disk%d", i), Path: image})
	}
	if r.pressed {
		r.press(&cfg)
	}
	closed, err := r.record(&cfg, dir)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, closed()) }()
	run := load.Run{
		FS:      r.fs,
		Type:    r.variant.mountType,
		Mount:   append(slices.Clone(r.variant.mount), r.load.mount...),
		Stages:  r.stages(len(images)),
		Timeout: r.config.round + 10*time.Minute,
		Guest:   r.machine,
	}
	if r.pressed {
		run.Beside = r.beside
	}
	if _, err := run.Guarded(ctx, cfg, r.log); err != nil {
		return err
	}
	checked, err := load.Members(images, r.fs)
	if err != nil {
		return err
	}
	ev, err := offline.Check(ctx, checked, detect.Auto, guard.RulesConfig{})
	if err == nil && ev.Outcome != change.Holds {
		seen.Event(ev)
	}
	return err
}
