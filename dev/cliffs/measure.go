package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime/pprof"
	"slices"
	"time"

	"go.uber.org/zap"

	"fsward/dev/cost"
	"fsward/dev/load"
	"fsward/dev/mix"
	"fsward/hostd/guard"
	"fsward/hostd/memory"
	"fsward/hostd/offline"
	"fsward/interp"
)

const (
	scriptMax = 4 * time.Minute // of a phase
	replays   = 2               // of each log; the fastest counts
)

// diskSize is the size of the disk, bytes. The check of an ext3 takes time for each of its groups.
var diskSize = map[string]int64{"btrfs": 8 << 30, "ext3": 1 << 30}

// A job is the measurement of a mixture at one size.
type job struct {
	n       int
	fsload  string // path of the program
	file    string // of the mixture
	dir     string // for files
	profile string // file for the functions that take most; "" for none
}

// A sample is what the guard spent on the commits of one phase, or on the check of the image.
type sample struct {
	What   string
	Sound  bool    // the kernel or mkfs made it: it must hold
	Work   float64 // change records, and blocks of 4 KiB that were written
	Alarms string
	cost.Spent
}

// measure runs a mixture and returns the samples of its phases, and of the image at the end.
func (j job) measure(ctx context.Context, m mix.Mixture) (samples []sample, err error) {
	image := filepath.Join(j.dir, "disk.img")
	if m.Generated {
		if err := j.generate(ctx, m, image); err != nil {
			return nil, err
		}
	} else if err := load.Make(ctx, m.FS, []string{image}, diskSize[m.FS], m.Mkfs...); err != nil {
		return nil, err
	}
	base, log := filepath.Join(j.dir, "base.img"), filepath.Join(j.dir, "log")
	for phase := range m.Phases {
		if m.Generated {
			break
		}
		if err := load.Command(ctx, "cp", "--sparse=always", image, base); err != nil {
			return nil, err
		}
		if err := os.RemoveAll(log); err != nil {
			return nil, err
		}
		s, err := j.phase(ctx, m, phase, image, base, log)
		if err != nil {
			return nil, fmt.Errorf("phase %d: %w", phase+1, err)
		}
		samples = append(samples, s)
	}
	s := sample{What: "check", Sound: m.Alter == ""}
	if m.Alter != "" && !m.Generated {
		s, err := j.altered(ctx, m, base, log)
		return append(samples, s), err
	}
	if m.Alter != "" {
		if _, err := offline.CorruptImages([]string{image}, offline.CorruptConfig{FS: m.FS,
			Spec: m.Alter, All: j.n}); err != nil && !errors.Is(err, interp.ErrNoPlace) {
			return nil, err
		}
	}
	s.Spent, err = j.profiled(s.What, func(times int) (cost.Spent, error) {
		return cost.Check(ctx, []string{image}, limits(m).PerDisk, times)
	})
	s.Work = float64(s.Records)
	return append(samples, s), err
}

// phase runs a phase under the guard, and then replays its log.
func (j job) phase(ctx context.Context, m mix.Mixture, phase int,
	image, base, log string) (s sample, err error) {
	s = sample{What: fmt.Sprintf("phase %d", phase+1), Sound: true}
	options := append(slices.Clone(m.Mount), "commit=300")
	script := fmt.Sprintf("%s -dir . -mixture %s -phase %d -n %d; sync -f .", j.fsload, j.file, phase,
		j.n)
	run := load.Run{FS: m.FS, Mount: options, Timeout: scriptMax,
		Stages: []load.Stage{{Script: script}}}
	live, err := cost.Guarded(ctx, run, []string{image}, log, limits(m))
	s.Alarms = live.Alarms
	if err != nil {
		return s, fmt.Errorf("%w\n%s", err, live.Alarms)
	}
	s.Spent, err = j.replay(ctx, s.What, m, base, log)
	if err != nil {
		return s, err
	}
	s.RSS = live.RSS
	s.Work = work(s.Records, log)
	return s, nil
}

// work returns the size of what was judged: change records, and blocks in the log.
func work(records int, log string) float64 {
	info, err := os.Stat(log)
	if err != nil {
		return float64(records)
	}
	return float64(records) + float64(info.Size())/4096
}

func (j job) replay(ctx context.Context, what string, m mix.Mixture,
	base, log string) (cost.Spent, error) {
	return j.profiled(what, func(times int) (cost.Spent, error) {
		return cost.Replay(ctx, m.FS, base, log, limits(m), times)
	})
}

// limits returns the limits of the guard for a mixture.
func limits(m mix.Mixture) memory.Limits {
	return memory.Limits{PerDisk: m.Memory << 20, NoReserve: m.Memory > 0}
}

// profiled measures f, and then adds the functions that take most to the file of the profile.
func (j job) profiled(what string, f func(times int) (cost.Spent, error)) (cost.Spent, error) {
	spent, err := f(replays)
	if err != nil || j.profile == "" {
		return spent, err
	}
	raw, err := os.Create(j.profile + ".pprof")
	if err != nil {
		return spent, err
	}
	if err := pprof.StartCPUProfile(raw); err != nil {
		return spent, err
	}
	_, err = f(1)
	pprof.StopCPUProfile()
	if err = errors.Join(err, raw.Close()); err != nil {
		return spent, err
	}
	// Only functions of the project: each bears what it calls of the runtime.
	top, err := exec.Command("go", "tool", "pprof", "-top", "-nodecount=12", "-show=^fsward",
		raw.Name()).CombinedOutput()
	if err != nil {
		return spent, fmt.Errorf("pprof: %w: %s", err, top)
	}
	out, err := os.OpenFile(j.profile, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o644)
	if err != nil {
		return spent, err
	}
	_, err = fmt.Fprintf(out, "== %s\n%s\n", what, top)
	return spent, errors.Join(err, out.Close())
}

// generate runs the phases in a directory, and has mkfs make an image of it.
func (j job) generate(ctx context.Context, m mix.Mixture, image string) error {
	from := filepath.Join(j.dir, "from")
	if err := os.Mkdir(from, 0o755); err != nil {
		return err
	}
	for phase := range m.Phases {
		if err := mix.Run(from, m, phase, j.n); err != nil {
			return err
		}
	}
	if err := load.Blank(image, diskSize[m.FS]); err != nil {
		return err
	}
	if m.FS == "btrfs" {
		return load.Command(ctx, "mkfs.btrfs",
			slices.Concat([]string{"-q", "--rootdir", from}, m.Mkfs, []string{image})...)
	}
	return load.Command(ctx, "mke2fs", slices.Concat([]string{"-q", "-F", "-t", "ext3", "-d", from},
		m.Mkfs, []string{image})...)
}

// altered makes the alteration of a mixture at n places of the largest commit of a log, and replays
// the result. If the commit has no such place, it replays the log as it is.
func (j job) altered(ctx context.Context, m mix.Mixture, base, log string) (s sample, err error) {
	s.What = "altered"
	disk := offline.ReplayDisk{Base: base, Log: log}
	largest := &largestCommit{}
	if _, err := offline.Replay(ctx, offline.ReplayConfig{Disks: []offline.ReplayDisk{disk}, FS: m.FS,
		KeepGoing: true, Sinks: []guard.Sink{largest}}, zap.NewNop()); err != nil {
		return s, err
	}
	altered := filepath.Join(j.dir, "altered")
	if _, err := offline.CorruptLogs(ctx, []offline.ReplayDisk{disk}, offline.CorruptConfig{FS: m.FS,
		Spec: m.Alter, All: j.n, Commit: largest.number, Out: []string{altered}}); errors.Is(err,
		interp.ErrNoPlace) {
		altered = log
	} else if err != nil {
		return s, err
	}
	s.Spent, err = j.replay(ctx, s.What, m, base, altered)
	s.Work = work(largest.records, altered)
	return s, err
}

// largestCommit is a guard.Sink that finds the commit with most records.
type largestCommit struct{ commits, records, number int }

// Event notes an event.
func (l *largestCommit) Event(ev *guard.Event) {
	if ev.Kind != guard.KindCommit {
		return
	}
	if l.commits++; ev.Records > l.records || l.number == 0 {
		l.records, l.number = ev.Records, l.commits
	}
}
