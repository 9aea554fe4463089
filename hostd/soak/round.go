package main

import (
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

// run makes the file system, loads it under the guard, and lets its own checker judge what is left.
func (r *round) run(ctx context.Context) (counts, error) {
	image := filepath.Join(r.dir, fmt.Sprintf("round-%d.img", r.number))
	log := image + ".log"
	defer os.Remove(image)
	defer os.Remove(log)
	if err := load.Make(ctx, r.fs, image, r.variant.size, r.variant.mkfs...); err != nil {
		return counts{}, err
	}
	base := image + ".base"
	if r.keep != "" {
		defer os.Remove(base)
		if err := load.Command(ctx, "cp", "--sparse=always", image, base); err != nil {
			return counts{}, err
		}
	}
	seen := &judge{}
	err := r.guarded(ctx, image, log, seen)
	got, alarms := seen.result()
	got.rounds = 1
	if err = errors.Join(alarms, err); err == nil {
		err = load.Check(ctx, r.fs, image)
	}
	if err != nil && r.keep != "" {
		err = errors.Join(err, os.MkdirAll(r.keep, 0o755), load.Command(ctx, "cp", "--sparse=always", image, base, r.keep), load.Command(ctx, "cp", "--sparse=always", log, r.keep))
	}
	return got, err
}

// guarded runs the load on an image under the guard and leaves the image unmounted.
func (r *round) guarded(ctx context.Context, image, log string, seen *judge) error {
	cfg := hostd.Config{Disks: []hostd.DiskSpec{{Name: "disk", Path: image}}, FS: detect.Auto, OnViolation: hostd.OnRefuse, Sinks: []hostd.Sink{seen}}
	if r.keep != "" {
		cfg.Record = log
	}
	admin := ""
	if r.fs == "btrfs" {
		admin = "-btrfs"
	}
	script := fmt.Sprintf("export FSLOAD=%s SEED=%d SECONDS_LEFT=%.0f ADMIN=%s\n%s", r.fsload, r.seed, r.config.round.Seconds(), admin, r.load.script)
	_, err := load.Run{FS: r.fs, Mount: r.variant.mount, Script: script, Timeout: r.config.round + 10*time.Minute}.Guarded(ctx, cfg, r.log)
	return err
}
