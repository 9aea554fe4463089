package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"fsward/change"
	"fsward/explore"
	"fsward/explore/host"
	"fsward/explore/ramdisk"
	"fsward/explore/spec"
	"fsward/hostd/guard"
)

// An exploring is a run of the explorer that is started or resumed in a guest.
type exploring struct {
	run      spec.Run
	dir      string
	limit    time.Duration // 0: none
	cfg      explore.Config
	progress *exploreProgress
	sum      explore.Summary
	done     bool // sum is that of the run
}

// newExploring prepares a run in dir, and adds what it needs to the guest.
func (f *exploreFlags) newExploring(c *cobra.Command, r spec.Run, dir string,
	limit time.Duration) (*exploring, error) {
	if err := siteRules(&r); err != nil {
		return nil, err
	}
	cfg, err := r.Config()
	if err != nil {
		return nil, err
	}
	if _, err := userMode(r); err != nil {
		return nil, err
	}
	cfg.Dir, cfg.ReplayFlags = dir, f.replayFlags()
	if cfg.Code, err = host.CodeMap(f.guest.Dir); err != nil {
		return nil, err
	}
	if err := f.prepareGuest(c.ErrOrStderr(), r); err != nil {
		return nil, err
	}
	p := &exploreProgress{out: c.OutOrStdout(), err: c.ErrOrStderr(), json: f.json, limit: limit}
	if r.Workloads != nil {
		count, _, err := r.Workloads.Load()
		if err != nil {
			return nil, err
		}
		p.workloads = uint64(count)
	}
	cfg.OnEvent = p.event
	return &exploring{run: r, dir: dir, limit: limit, cfg: cfg, progress: p}, nil
}

// exploreIn explores in a machine.
func (f *exploreFlags) exploreIn(c *cobra.Command, m explore.System, x *exploring) error {
	x.cfg.System = m
	x.cfg.Guard = &host.Guard{Log: f.log(), Rules: guard.RulesConfig{Add: x.run.AddRules}}
	return f.recovering(c.Context(), x.run, &x.cfg, func() (err error) {
		ctx := c.Context()
		if x.limit > 0 {
			var cancel context.CancelFunc
			ctx, cancel = context.WithTimeout(ctx, x.limit)
			defer cancel()
		}
		x.progress.began = time.Now()
		if x.sum, err = explore.Run(ctx, x.cfg); err == nil && x.run.Workloads != nil {
			d := workloadDescriber{run: x.run, dir: x.dir, machine: m, say: x.progress.say,
				recovery: x.cfg.Recovery}
			err = d.describe(c.Context(), x.sum.Errors)
		}
		x.done = err == nil
		return err
	})
}

// ended prints what a run found, and returns its verdict.
func (f *exploreFlags) ended(c *cobra.Command, x *exploring) change.Outcome {
	x.progress.explored(x.sum, x.dir)
	if x.progress.workloads > 0 && !f.json {
		printPhases(c.OutOrStdout(), &x.sum)
	}
	verdict, _ := exploredVerdict(&x.sum)
	return verdict
}

// explore starts or resumes a run in dir, and prints what it finds.
func (f *exploreFlags) explore(c *cobra.Command, r spec.Run, dir string,
	limit time.Duration) error {
	x, err := f.newExploring(c, r, dir, limit)
	if err != nil {
		return err
	}
	err = f.withSystem(c.Context(), x.run, func(m explore.System) error {
		return f.exploreIn(c, m, x)
	})
	if errors.Is(err, ramdisk.ErrFull) {
		err = fmt.Errorf("%w; --log %d makes the log larger", err, 2*f.guest.LogMiB)
	}
	if err != nil {
		return err
	}
	return outcome(f.ended(c, x))
}
