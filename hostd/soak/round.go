package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"fsward/blocktap/fuse/loopmount"
	"fsward/change"
	"fsward/hostd"
	"fsward/interp/detect"
)

// A round is one file system under one load.
type round struct {
	*config
	number  int
	seed    uint64
	variant variant
	load    load
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

// run makes the file system, loads it under the guard, and lets its own checker judge what is left.
func (r *round) run(ctx context.Context) (counts, error) {
	image := filepath.Join(r.dir, fmt.Sprintf("round-%d.img", r.number))
	log := image + ".log"
	defer os.Remove(image)
	defer os.Remove(log)
	if err := r.make(ctx, image); err != nil {
		return counts{}, err
	}
	base := image + ".base"
	if r.keep != "" {
		defer os.Remove(base)
		if err := command(ctx, "cp", "--sparse=always", image, base); err != nil {
			return counts{}, err
		}
	}
	seen := &judge{}
	err := r.guarded(ctx, image, log, seen)
	got, alarms := seen.result()
	got.rounds = 1
	if err = errors.Join(alarms, err); err == nil {
		err = r.check(ctx, image)
	}
	if err != nil && r.keep != "" {
		err = errors.Join(err, os.MkdirAll(r.keep, 0o755), command(ctx, "cp", "--sparse=always", image, base, r.keep), command(ctx, "cp", "--sparse=always", log, r.keep))
	}
	return got, err
}

// guarded runs the load on an image under the guard and leaves the image unmounted.
func (r *round) guarded(ctx context.Context, image, log string, seen *judge) (err error) {
	cfg := hostd.Config{Disks: []hostd.DiskSpec{{Name: "disk", Path: image}}, FS: detect.Auto, OnViolation: hostd.OnRefuse, Sinks: []hostd.Sink{seen}}
	if r.keep != "" {
		cfg.Record = log
	}
	d, err := hostd.Open(cfg, r.log)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, d.Close()) }()
	m, err := loopmount.Attach(ctx, d.Devices()["disk"], r.log)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, m.Close()) }()
	m.Timeout = 5 * time.Minute
	if err := m.Mount(r.fs, append(slices.Clone(r.variant.mount), "noatime")...); err != nil {
		return err
	}
	limited, cancel := context.WithTimeout(ctx, r.config.round+10*time.Minute)
	defer cancel()
	admin := ""
	if r.fs == "btrfs" {
		admin = "-btrfs"
	}
	out, err := m.Run(limited, fmt.Sprintf("export FSLOAD=%s SEED=%d SECONDS_LEFT=%.0f ADMIN=%s\n%s", r.fsload, r.seed, r.config.round.Seconds(), admin, r.load.script))
	if err != nil {
		return fmt.Errorf("the load: %w: %s", err, out)
	}
	return m.Unmount()
}

// make makes the file system.
func (r *round) make(ctx context.Context, image string) error {
	f, err := os.Create(image)
	if err != nil {
		return err
	}
	if err := errors.Join(f.Truncate(r.variant.size), f.Close()); err != nil {
		return err
	}
	return command(ctx, "mkfs."+r.fs, append(append([]string{"-q"}, r.variant.mkfs...), image)...)
}

// check lets the file system's own checker judge an image.
func (r *round) check(ctx context.Context, image string) error {
	if r.fs == "btrfs" {
		return command(ctx, "btrfs", "check", image)
	}
	return command(ctx, "e2fsck", "-fn", image)
}

// command runs a program that has to succeed within ten minutes.
func command(ctx context.Context, name string, args ...string) error {
	ctx, cancel := context.WithTimeout(ctx, 10*time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.Stdin = nil
	out, err := cmd.CombinedOutput()
	if err != nil {
		return fmt.Errorf("%s: %w: %.4000s", name, err, out)
	}
	return nil
}
