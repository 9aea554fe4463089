package campaign

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"fsward/repair/damage"
)

// A Replayed is a finding after some replays.
type Replayed struct {
	Finding *Finding
	Runs    []*Run // of the last time
	Tally
}

// Replay runs the program of a finding again, a number of times. The end of ctx ends the program,
// and is an error.
func Replay(ctx context.Context, dir string, times int) (r *Replayed, err error) {
	f, err := LoadFinding(dir)
	if err != nil {
		return nil, err
	}
	base, program, err := f.opened(dir, os.TempDir())
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, base.Close()) }()
	c, err := newChecks(f.needs(), f.FS, base)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, c.close()) }()
	patches, err := f.bytes(base)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", filepath.Join(dir, findingFile), err)
	}
	m := program.Mode(f.Repair)
	if m == nil {
		return nil, fmt.Errorf("%s: the program has no mode %q", dir, f.Repair)
	}
	w, err := newWorker(program, base, c)
	if err != nil {
		return nil, err
	}
	w.aim(&f.Failure)
	w.damage = damage.Damage{Group: f.Group, Spec: f.Spec}
	defer func() { err = errors.Join(err, w.close()) }()
	w.ended = ctx.Err
	defer context.AfterFunc(ctx, func() { _ = w.box.Stop() })()
	r = &Replayed{Finding: f}
	for range times {
		t, err := w.try(patches, m)
		if ctx.Err() != nil {
			return r, fmt.Errorf("interrupted after %d of %d replays: %w", r.Replays, times, ctx.Err())
		}
		if err != nil {
			return r, err
		}
		r.Runs = t.runs
		r.count(f, t)
	}
	return r, nil
}

// needs returns the checks that can show the finding: of the costly ones, at most that which found
// it.
func (f *Finding) needs() []string {
	return slices.DeleteFunc(slices.Clone(f.Checks), func(check string) bool {
		switch check {
		case Interrupt, Mount, Complete:
			return f.Check != "" && f.Check != check
		}
		return false
	})
}
