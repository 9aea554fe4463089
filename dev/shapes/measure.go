package main

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"go.uber.org/zap"

	"fsward/dev/cost"
	"fsward/dev/load"
	"fsward/dev/shape"
	"fsward/explore/uml"
	"fsward/hostd/memory"
)

// gib is a GiB in bytes.
const gib = 1 << 30

// diskSize is the size of the disk, bytes. The check of an ext3 takes time for each of its groups.
var diskSize = map[string]int64{"btrfs": 16 * gib, "ext3": 4 * gib}

// scriptTime is the limit of one script.
const scriptTime = 6 * time.Hour

// A result is what was measured of a shape at one size.
type result struct {
	cost.Live               // of the commits
	Checked   int           // records of the image afterwards
	Check     time.Duration // processor time of fsward check on the image afterwards
	CheckRSS  int64         // peak of the process with this check, KiB
}

// measure makes the shape on a new image.
func measure(ctx context.Context, s *shape.Shape, dir, fsload string,
	n int) (r result, err error) {
	var images []string
	for i := range max(s.Disks, 1) {
		images = append(images, filepath.Join(dir, fmt.Sprintf("disk%d.img", i)))
	}
	size, first := diskSize[s.FS]+s.Each*int64(n), s.FS
	if s.Converted {
		first = "ext3"
	}
	if err := load.Make(ctx, first, images, cmp.Or(s.Start, size), s.Mkfs...); err != nil {
		return r, err
	}
	if s.Start > 0 {
		if err := os.Truncate(images[0], size); err != nil {
			return r, err
		}
	}
	if s.BigFile {
		if err := makeBigFile(ctx, images[0], uint64(n)*gib); err != nil {
			return r, err
		}
	}
	head := fmt.Sprintf("N=%d; LOAD='%s -dir .'\n", n, fsload)
	run := load.Run{FS: first, Mount: append([]string{"commit=300"}, s.Mount...), Timeout: scriptTime,
		Stages: []load.Stage{{Script: head + s.Prepare + "\nsync -f ."}}}
	if s.Converted {
		run.Stages[0].Offline = "btrfs-convert $FIRST"
	}
	if s.Guest {
		if run.Guest, err = uml.New(ctx, dir); err != nil {
			return r, err
		}
	}
	if s.Prepare != "" {
		if _, err := run.Unguarded(ctx, images[0], zap.NewNop()); err != nil {
			return r, err
		}
	}
	run.FS, run.Stages = s.FS, []load.Stage{{Script: head + s.Script + "\nsync -f ."}}
	err = profiles.run(func() (err error) {
		r.Live, err = cost.Guarded(ctx, run, images, "", memory.Limits(limits))
		return err
	})
	if err != nil {
		return r, err
	}
	if images, err = load.Members(images, s.FS); err != nil {
		return r, err
	}
	checked, err := cost.Check(ctx, images, memory.Limits(limits).Disk(), 1)
	r.Checked, r.Check, r.CheckRSS = checked.Records, checked.CPU, checked.RSS
	if r.Verdict == "holds" && checked.Verdict != "" {
		r.Verdict = checked.Verdict
	}
	return r, err
}

// profiles is the value of the flag -profile.
var profiles profiler

// memoryLimits are memory.Limits as a flag.
type memoryLimits memory.Limits

// limits are those of the guard; the defaults are those of fsward guard.
var limits = memoryLimits{PerDisk: memory.Default, Reserve: memory.DefaultReserve}

func (l *memoryLimits) String() string {
	return fmt.Sprintf("%d,%d", memory.Limits(*l).Disk()>>20, l.Reserve>>20)
}

// Set reads the text of the flag.
func (l *memoryLimits) Set(text string) error {
	if _, err := fmt.Sscanf(text, "%d,%d", &l.PerDisk, &l.Reserve); err != nil {
		return fmt.Errorf("%q is not of the form 256,768: %w", text, err)
	}
	l.PerDisk, l.Reserve, l.NoReserve = l.PerDisk<<20, l.Reserve<<20, l.Reserve == 0
	return nil
}
