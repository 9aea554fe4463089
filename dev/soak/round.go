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

	"fsward/blocktap"
	"fsward/change"
	"fsward/dev/load"
	"fsward/hostd/guard"
	"fsward/hostd/offline"
	"fsward/interp/detect"
)

// A round is one file system under one load.
type round struct {
	*config
	number  int
	random  *rand.Rand
	variant variant
	load    workload
}

func (r *round) name() string { return fmt.Sprintf("%s, %s", r.variant.name, r.load.name) }

// judge is a Sink that counts commits and keeps the first events that do not hold.
type judge struct {
	mu     sync.Mutex
	counts counts
	alarms []*guard.Event
}

func (j *judge) Event(ev *guard.Event) {
	j.mu.Lock()
	defer j.mu.Unlock()
	switch ev.Kind {
	case guard.KindCommit:
		j.counts.commits++
	case guard.KindLogCommit:
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
	report := guard.NewTextReport(&text)
	for _, ev := range j.alarms {
		report.Event(ev)
	}
	return j.counts, fmt.Errorf("false alarms:\n%s", &text)
}

// run makes the file system, loads it under the guard, and checks the result with the file system's
// own checker and with fsward check.
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
	seen := &judge{}
	err := r.guarded(ctx, images, filepath.Join(dir, "log"), seen)
	got, alarms := seen.result()
	got.rounds = 1
	err = errors.Join(alarms, err)
	if err != nil && r.keep != "" {
		err = errors.Join(err, os.MkdirAll(r.keep, 0o755),
			load.Command(ctx, "cp", "-r", "--sparse=always", dir, r.keep))
	}
	return got, err
}

// make makes the file system.
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
func (r *round) guarded(ctx context.Context, images []string, log string, seen *judge) error {
	cfg := guard.Config{FS: detect.Auto, OnViolation: guard.OnRefuse, Verify: true,
		Sinks:       []guard.Sink{seen},
		DataOrdered: !slices.Contains(r.variant.mount, "data=writeback")}
	for i, image := range images {
		cfg.Disks = append(cfg.Disks, guard.DiskSpec{Name: fmt.Sprintf("disk%d", i), Path: image})
	}
	if r.keep != "" {
		cfg.Record = log
	}
	what := load.Run{FS: r.fs, Type: r.variant.kind,
		Mount:  append(slices.Clone(r.variant.mount), r.load.mount...),
		Stages: r.stages(len(images)), Timeout: r.config.round + 10*time.Minute, Guest: r.machine}
	if _, err := what.Guarded(ctx, cfg, r.log); err != nil {
		return err
	}
	held, err := holding(images, r.fs)
	if err != nil {
		return err
	}
	ev, err := offline.Check(ctx, held, detect.Auto, guard.RulesConfig{})
	if err == nil && ev.Outcome != change.Holds {
		seen.Event(ev)
	}
	return err
}

// holding returns the images that the file system is on at the end.
func holding(images []string, fs string) (held []string, err error) {
	for _, image := range images {
		file, err := blocktap.OpenImage(image)
		if err != nil {
			return nil, err
		}
		if name, err := detect.Name(file, detect.Auto); err == nil && name == fs {
			held = append(held, image)
		}
		if err := file.Close(); err != nil {
			return nil, err
		}
	}
	return held, nil
}
