package main

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"fsward/blocktap/fuse/loopmount"
	"fsward/change"
	"fsward/dev/load"
	"fsward/hostd/guard"
	"fsward/hostd/offline"
	"fsward/interp/detect"
)

// divided is a bash script that divides a disk and puts its volumes under load.
//
//go:embed divided.sh
var divided string

// layouts are the values of $LAYOUT in divided.
var layouts = []string{"gpt", "mbr", "lvm"}

// dividedSize is the size of a divided disk, bytes. The script knows it.
const dividedSize = 2200 << 20

// checkLayouts returns an error if a name is not one of layouts.
func checkLayouts(names []string) error {
	for _, name := range names {
		if !slices.Contains(layouts, name) {
			return fmt.Errorf("no layout %q: the layouts are %s", name, strings.Join(layouts, ", "))
		}
	}
	return nil
}

// A dividedRound is one blank disk that a guest divides and uses, while it changes its tables.
type dividedRound struct {
	*config
	number int
	layout string
	random *rand.Rand
}

func (c *config) dividedRound(n int) *dividedRound {
	return &dividedRound{config: c, number: n, layout: c.layouts[n%len(c.layouts)],
		random: rand.New(rand.NewPCG(c.seed, uint64(n)))}
}

func (r *dividedRound) name() string { return r.layout + ", ext3 and btrfs" }

// run guards the disk, runs the script on it and checks the result. Every volume must be as the
// guard says in the end.
func (r *dividedRound) run(ctx context.Context) (counts, error) {
	dir := filepath.Join(r.dir, r.folder(r.number))
	if err := os.Mkdir(dir, 0o700); err != nil {
		return counts{}, err
	}
	defer os.RemoveAll(dir)
	image := filepath.Join(dir, "disk.img")
	if err := load.Blank(image, dividedSize); err != nil {
		return counts{}, err
	}
	seen := &collector{}
	changes, err := r.guarded(ctx, image, dir, seen)
	if err == nil {
		_, err = offline.CheckVolumes(ctx, []string{image}, offline.CheckConfig{FS: detect.Auto},
			func(*guard.Progress) {}, func(ev *guard.Event) {
				if ev.Outcome != change.Holds {
					seen.Event(ev)
				}
			})
	}
	got, alarms := seen.result()
	got.rounds, got.changes = 1, changes
	err = errors.Join(alarms, err)
	return got, r.keepFailed(ctx, dir, err)
}

// guarded runs the script on a disk under the guard, and returns how often it changed the tables.
func (r *dividedRound) guarded(ctx context.Context, image, dir string,
	seen *collector) (changes int, err error) {
	cfg := guard.Config{FS: detect.Auto, Verify: true, DataOrdered: true, Sinks: []guard.Sink{seen},
		Policies: guard.Policies{OnViolation: guard.OnRefuse},
		Disks:    []guard.DiskSpec{{Name: "disk", Path: image}}}
	closed, err := r.record(&cfg, dir)
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, closed()) }()
	d, err := guard.Open(cfg, r.log)
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, d.Close()) }()
	loop, err := loopmount.Attach(ctx, d.Device("disk"), r.log)
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, loop.Close()) }()
	loop.Timeout = 5 * time.Minute
	work, err := os.MkdirTemp(r.dir, "divided-")
	if err != nil {
		return 0, err
	}
	defer os.RemoveAll(work)
	limited, cancel := context.WithTimeout(ctx, r.round+10*time.Minute)
	defer cancel()
	limit := fmt.Sprintf("-seconds %d", int(r.round.Seconds()))
	if r.ops > 0 {
		limit = fmt.Sprintf("-seconds 600 -ops %d", r.ops)
	}
	script := filepath.Join(work, "script")
	if err := os.WriteFile(script, []byte(divided), 0o600); err != nil {
		return 0, err
	}
	out, err := loop.Shell(limited, fmt.Sprintf("LAYOUT=%s DISK=%s DIR=%s LOAD='%s -seed %d %s' "+
		"bash %s", r.layout, loop.LoopDev, work, r.fsload, r.random.Uint64()>>2, limit, script))
	if err != nil {
		return 0, fmt.Errorf("the load: %w: %s", err, out)
	}
	lines := strings.Fields(string(out))
	if len(lines) == 0 {
		return 0, errors.New("the script did not say how often it changed the tables")
	}
	return strconv.Atoi(lines[len(lines)-1])
}
