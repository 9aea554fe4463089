package campaign

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/cespare/xxhash/v2"
	"golang.org/x/sync/errgroup"

	"fsward/interp"
	"fsward/repair/adapter"
	"fsward/repair/damage"
)

// A job is one damage to try.
type job struct {
	n      uint64
	damage *damage.Damage
}

// replayTime is for how long findings are replayed after the time of a campaign is up.
const replayTime = time.Minute

// findingShare divides a campaign's time: a finding whose trials are slow is minimized for one
// part, and replayed for another one.
const findingShare = 20

// Run tries damages until limits or ctx end it, or until all were tried. It calls tell with each
// new finding, and with the progress once a second, from one goroutine at a time. complete reports
// that nothing is left to try.
func (c *Campaign) Run(ctx context.Context, limits Limits,
	tell func(Event)) (p Progress, complete bool, err error) {
	replays := ctx
	if limits.Time > 0 {
		var cancel, cancelReplays context.CancelFunc
		replays, cancelReplays = context.WithTimeout(ctx, limits.Time+replayTime)
		defer cancelReplays()
		ctx, cancel = context.WithTimeout(ctx, limits.Time)
		defer cancel()
	}
	start := time.Now()
	now := func() Progress { return c.state.snapshot(c.model, time.Since(start).Seconds()) }
	save := func() error {
		return c.state.save(filepath.Join(c.dir, progressFile), c.model, time.Since(start).Seconds())
	}
	jobs, found := make(chan job), make(chan *Finding)
	group, failed := errgroup.WithContext(context.Background())
	group.Go(func() error {
		defer close(jobs)
		return c.produce(ctx, failed, limits.Damages, jobs)
	})
	workers, _ := errgroup.WithContext(context.Background())
	for range max(c.Workers, 1) {
		workers.Go(func() error { return c.work(ctx, replays, failed, limits, jobs, found) })
	}
	group.Go(func() error {
		defer close(found)
		return workers.Wait()
	})
	group.Go(func() error { return c.report(found, now, save, tell) })
	err = group.Wait()
	p = now()
	err = errors.Join(err, save())
	return p, err == nil && p.Next >= c.model.Count(), err
}

// produce sends the damages that were not tried yet.
func (c *Campaign) produce(ctx, failed context.Context, most uint64, jobs chan<- job) error {
	first := c.state.progress.Next
	for n := first; n < c.model.Count() && (most == 0 || n-first < most) && !over(ctx); n++ {
		if c.state.isDone(n) {
			continue
		}
		d, err := c.model.At(n)
		if errors.Is(err, damage.ErrNone) {
			c.state.finish(n, nil)
			continue
		}
		if err != nil {
			return err
		}
		select {
		case jobs <- job{n, d}:
		case <-ctx.Done():
			return nil
		case <-failed.Done():
			return nil
		}
	}
	return nil
}

// over reports whether a campaign's time is up, which is no error.
func over(ctx context.Context) bool { return ctx.Err() != nil }

// report calls tell, and saves the state, until there are no more findings to come.
func (c *Campaign) report(found <-chan *Finding, now func() Progress, save func() error,
	tell func(Event)) error {
	tick := time.NewTicker(time.Second)
	defer tick.Stop()
	saves := time.NewTicker(c.saveEvery)
	defer saves.Stop()
	for {
		select {
		case f, ok := <-found:
			if !ok {
				return nil
			}
			tell(Event{now(), f})
		case <-tick.C:
			tell(Event{Progress: now()})
		case <-saves.C:
			if err := save(); err != nil {
				return err
			}
		}
	}
}

// work tries damages in one sandbox. Findings are replayed until replays is done.
func (c *Campaign) work(ctx, replays, failed context.Context, limits Limits, jobs <-chan job,
	found chan<- *Finding) (err error) {
	w, err := newWorker(c.program, c.base, c.checks)
	if err != nil {
		drain(jobs)
		return err
	}
	defer func() { err = errors.Join(err, w.close()) }()
	w.late, w.share = func() bool { return over(replays) }, limits.Time/findingShare
	for j := range jobs {
		if failed.Err() != nil {
			continue
		}
		all, err := c.tryDamage(ctx, w, j.damage, found)
		if errors.Is(err, errLate) {
			continue // resume tries it again
		}
		if err != nil {
			drain(jobs)
			return fmt.Errorf("%s: %w", j.damage.What, err)
		}
		c.state.finish(j.n, all)
	}
	return c.replayPostponed(w)
}

// tryDamage tries a damage with all modes of the program. The count is nil for an image of a suite
// that cannot be read, or is too large. The error is errLate if the time ended before all crash
// states were tried.
func (c *Campaign) tryDamage(ctx context.Context, w *worker, d *damage.Damage,
	found chan<- *Finding) (all *damageCount, err error) {
	w.damage = *d
	if ok, err := w.use(c, d); !ok {
		return nil, err
	}
	all = &damageCount{}
	for i := range c.program.Repairs {
		m := &c.program.Repairs[i]
		if !m.Repairs(d.Group) {
			continue
		}
		if err := c.tryMode(ctx, w, d, m, all, found); err != nil {
			return nil, err
		}
	}
	return all, nil
}

// drain takes the jobs that a failed worker leaves, so that nobody waits for it.
func drain(jobs <-chan job) {
	for range jobs {
	}
}

// tryMode tries a damage with one mode, adds to the count of the damage, and saves what is found
// for the first time. Its errors are those of tryDamage.
func (c *Campaign) tryMode(ctx context.Context, w *worker, d *damage.Damage, m *adapter.Mode,
	all *damageCount, found chan<- *Finding) error {
	t, err := w.try(d.Patches, m)
	if err != nil {
		return err
	}
	if t.failures, err = w.unknown(t, d, m); err != nil {
		return err
	}
	all.add(t, pathOf(w.program, m, t.runs[0]), w.states.Swap(0))
	for _, failure := range t.failures {
		f := c.finding(d, m, t, failure)
		all.found = append(all.found, f.Dir)
		if !c.state.claim(f) {
			continue
		}
		w.aim(&f.Failure)
		isNew, err := c.complete(ctx, w, f, d, m)
		w.aim(nil)
		if err != nil {
			return err
		}
		if isNew {
			found <- f
		}
	}
	if t.cut {
		return errLate
	}
	return nil
}

// complete minimizes, replays and saves a new finding. It returns false if the finding turns out to
// be of a known group.
func (c *Campaign) complete(ctx context.Context, w *worker, f *Finding, d *damage.Damage,
	m *adapter.Mode) (bool, error) {
	if isNew, err := c.settle(w, f, d, m); err != nil || !isNew {
		return false, err
	}
	patience := ctx
	if w.share > 0 {
		var cancel context.CancelFunc
		patience, cancel = context.WithTimeout(ctx, w.share)
		defer cancel()
	}
	if err := w.minimize(patience, f, d.Patches, m); err != nil {
		return false, err
	}
	patches, err := f.bytes(w.base)
	if err != nil {
		return false, err
	}
	if isNew, err := c.regroup(f, patches); err != nil || !isNew {
		return false, err
	}
	if err := w.compareFiles(f, patches, m); err != nil {
		return false, err
	}
	if err := w.confirm(ctx, f, m, c.Replays); err != nil {
		return false, err
	}
	if f.Replays < f.wanted(c.Replays) {
		w.postponed = append(w.postponed, postponed{*f, *d, m})
	}
	return true, f.save(c.dir, w.base, c.text)
}

// settle tries the damage of a new finding again. Where the program's messages differ, as those
// from memory that it did not set, the finding keeps those that both runs have. settle returns
// false if another finding has the same messages then.
func (c *Campaign) settle(w *worker, f *Finding, d *damage.Damage, m *adapter.Mode) (bool, error) {
	if len(f.Messages) == 0 {
		return true, nil
	}
	t, err := w.try(d.Patches, m)
	if err != nil || t.shows(f) {
		return true, err
	}
	at := slices.IndexFunc(t.failures, func(o Failure) bool { return o.Kind == f.Kind })
	if at < 0 {
		return true, nil // how often it shows is counted later
	}
	earlier := f.Dir
	f.Messages, f.Varies = common(f.Messages, t.failures[at].Messages), true
	f.Dir = f.folder()
	return c.state.regroup(earlier, f), nil
}

// pathOf returns a hash of what a run of a mode did, as far as its messages show it.
func pathOf(p *adapter.Program, m *adapter.Mode, r *Run) uint64 {
	return xxhash.Sum64String(strings.Join(append(messages(p, r.Output), m.Name, r.Ended()), "\n"))
}

// finding returns a finding of a failure, with the bytes of the damage still missing.
func (c *Campaign) finding(d *damage.Damage, m *adapter.Mode, t *trial, failure Failure) *Finding {
	f := &Finding{Schema: 1, Program: c.program.Name, Version: c.version, FS: c.FS, Repair: m.Name,
		Group: d.Group, Damage: d.What, Spec: d.Spec, Checks: c.Checks, Failure: failure, Runs: t.runs}
	f.Dir = f.folder()
	return f
}

// setPatches sets the bytes that the finding's damage changes, and the runs that show it.
func (f *Finding) setPatches(base interp.Disk, patches []interp.Patch, t *trial) (err error) {
	f.Runs = t.runs
	f.Patches, err = hexPatches(base, patches)
	return err
}
