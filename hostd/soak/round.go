package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"fsward/change"
	"fsward/hostd"
	"fsward/hostd/load"
	"fsward/interp/detect"
)

// A round is one file system under one load.
type round struct {
	*config
	number  int
	seed    uint64
	variant variant
	load    workload
}

func (r *round) name() string { return fmt.Sprintf("%s, %s", r.variant.name, r.load.name) }

// judge is a Sink that counts commits and keeps the first events that do not hold.
type judge struct {
	mu     sync.Mutex
	counts counts
	alarms []*hostd.Event
}

func (j *judge) Event(ev *hostd.Event) {
	j.mu.Lock()
	defer j.mu.Unlock()
	switch ev.Kind {
	case hostd.KindCommit:
		j.counts.commits++
	case hostd.KindLogCommit:
		j.counts.logCommits++
	}
	j.counts.records += ev.Records
	if ev.Outcome != change.Holds && len(j.alarms) < 10 {
		j.alarms = append(j.alarms, ev)
	}
}

func (j *judge) result() (counts, error) {
	j.mu.Lock()
	defer j.mu.Unlock()
	if len(j.alarms) == 0 {
		return j.counts, nil
	}
	var text strings.Builder
	report := hostd.NewTextReport(&text)
	for _, ev := range j.alarms {
		report.Event(ev)
	}
	return j.counts, fmt.Errorf("false alarms:\n%s", &text)
}

// run makes the file system, loads it under the guard, and lets its own checker judge what is left, and ours
// of whole images.
func (r *round) run(ctx context.Context) (counts, error) {
	dir := filepath.Join(r.dir, fmt.Sprintf("round-%d", r.number))
	if err := os.Mkdir(dir, 0o700); err != nil {
		return counts{}, err
	}
	defer os.RemoveAll(dir)
	var images []string
	for i := range r.variant.disks + r.variant.spare {
		images = append(images, filepath.Join(dir, fmt.Sprintf("disk%d.img", i)))
	}
	if err := load.Make(ctx, r.fs, images[:r.variant.disks], r.variant.size, r.variant.mkfs...); err != nil {
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
	seen := &judge{}
	err := r.guarded(ctx, images, filepath.Join(dir, "log"), seen)
	got, alarms := seen.result()
	got.rounds = 1
	err = errors.Join(alarms, err)
	if err != nil && r.keep != "" {
		err = errors.Join(err, os.MkdirAll(r.keep, 0o755), load.Command(ctx, "cp", "-r", "--sparse=always", dir, r.keep))
	}
	return got, err
}

// guarded runs the load on images under the guard and lets what is left be judged.
func (r *round) guarded(ctx context.Context, images []string, log string, seen *judge) error {
	cfg := hostd.Config{FS: detect.Auto, OnViolation: hostd.OnRefuse, Sinks: []hostd.Sink{seen}}
	for i, image := range images {
		cfg.Disks = append(cfg.Disks, hostd.DiskSpec{Name: fmt.Sprintf("disk%d", i), Path: image})
	}
	if r.keep != "" {
		cfg.Record = log
	}
	admin := ""
	if r.fs == "btrfs" {
		admin = "-btrfs"
	}
	script := fmt.Sprintf("export FSLOAD=%s SEED=%d SECONDS_LEFT=%.0f ADMIN=%s\n", r.fsload, r.seed, r.config.round.Seconds(), admin)
	// Linux 6.18 aborts a transaction now and then (btrfs_chunk_alloc: ENOENT) where devices change while there is
	// no space: that is no matter of the guard.
	if len(images) > 1 && !r.load.small {
		// Words without quotes in the load's script: the devices are joined to one by commas.
		script += "ADMIN=\"$ADMIN -devices $(echo $DISKS | tr ' ' ,)\"\n"
	}
	var held []string // the images that are its disks in the end
	_, err := load.Run{FS: r.fs, Mount: r.variant.mount, Script: script + r.load.script, Timeout: r.config.round + 10*time.Minute,
		After: func(devices []string) error {
			first := ""
			for i, device := range devices {
				if device != "" {
					held = append(held, images[i])
					first = cmp.Or(first, device)
				}
			}
			return load.Check(ctx, r.fs, first)
		}}.Guarded(ctx, cfg, r.log)
	if err != nil {
		return err
	}
	ev, err := hostd.Check(ctx, held, detect.Auto, hostd.RulesConfig{})
	if err == nil && ev.Outcome != change.Holds {
		seen.Event(ev)
	}
	return err
}
