package main

import (
	"context"
	"fmt"
	"sync"
	"syscall"
	"time"

	"go.uber.org/zap"

	"fsward/change"
	"fsward/dev/load"
	"fsward/hostd/guard"
	"fsward/hostd/memory"
	"fsward/hostd/offline"
	"fsward/interp/detect"
)

// A shape is an operation whose commit has a size n.
type shape struct {
	name     string
	fs       string // "btrfs" or "ext3"
	smallest int    // the first n
	disk     int64  // size of the disk, bytes
	mkfs     []string
	mount    []string // options of mount, beside commit=300
	// sh -e runs both in the mounted file system, with n in $N and this program in $SHAPES: prepare
	// without a guard, script under the guard.
	prepare, script string
}

// scriptTime is the limit of one script.
const scriptTime = 30 * time.Minute

// measure makes the shape on a new image.
func (s *shape) measure(ctx context.Context, image, self string, n int) (r result, err error) {
	if err := load.Make(ctx, s.fs, []string{image}, s.disk, s.mkfs...); err != nil {
		return r, err
	}
	head := fmt.Sprintf("N=%d; SHAPES=%s\n", n, self)
	run := load.Run{FS: s.fs, Mount: append([]string{"commit=300"}, s.mount...), Timeout: scriptTime,
		Stages: []load.Stage{{Script: head + s.prepare + "\nsync -f ."}}}
	if s.prepare != "" {
		if _, err := run.Unguarded(ctx, image, zap.NewNop()); err != nil {
			return r, err
		}
	}
	run.Stages[0].Script = head + s.script + "\nsync -f ."
	worst := &slowest{verdict: change.Holds}
	memory.SetLimit(memory.Limits(limits).Total(1))
	cfg := guard.Config{FS: detect.Auto, OnViolation: guard.OnLog, Sinks: []guard.Sink{worst},
		Memory: memory.Limits(limits),
		Disks:  []guard.DiskSpec{{Name: "disk", Path: image}}}
	if _, err := run.Guarded(ctx, cfg, zap.NewNop()); err != nil {
		return r, err
	}
	var usage syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &usage); err != nil {
		return r, err
	}
	began := time.Now()
	ev, err := offline.Check(ctx, []string{image}, detect.Auto,
		guard.RulesConfig{Memory: memory.Limits(limits).Disk()})
	if err != nil {
		return r, err
	}
	worst.judge(ev)
	return result{Records: worst.records, Held: worst.held, RSS: usage.Maxrss,
		Check: time.Since(began), Verdict: worst.verdict.String()}, nil
}

// memoryLimits are memory.Limits as a flag.
type memoryLimits memory.Limits

// limits are those of the guard; the defaults are those of fsward guard.
var limits = memoryLimits{PerDisk: memory.Default, Reserve: memory.DefaultReserve}

func (l *memoryLimits) String() string {
	return fmt.Sprintf("%d,%d", memory.Limits(*l).Disk()>>20, l.Reserve>>20)
}

func (l *memoryLimits) Set(text string) error {
	if _, err := fmt.Sscanf(text, "%d,%d", &l.PerDisk, &l.Reserve); err != nil {
		return fmt.Errorf("%q is not of the form 256,768: %w", text, err)
	}
	l.PerDisk, l.Reserve, l.NoReserve = l.PerDisk<<20, l.Reserve<<20, l.Reserve == 0
	return nil
}

// slowest is a guard.Sink that keeps the commit that was held longest, and the worst verdict.
type slowest struct {
	mu      sync.Mutex
	records int
	held    time.Duration
	verdict change.Outcome
}

// Event notes an event.
func (s *slowest) Event(ev *guard.Event) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if held := time.Duration(ev.CheckNS); ev.Kind == guard.KindCommit && held > s.held {
		s.records, s.held = ev.Records, held
	}
	s.judge(ev)
}

// judge notes the verdict of an event.
func (s *slowest) judge(ev *guard.Event) {
	if ev.Outcome != change.Holds && s.verdict != change.Violated {
		s.verdict = ev.Outcome
	}
}
