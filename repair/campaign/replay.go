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

// Replay runs the program of a finding again. It returns the runs, and whether they show the
// finding. The end of ctx ends the program.
func Replay(ctx context.Context, dir string) (f *Finding, runs []*Run, shows bool, err error) {
	f, err = LoadFinding(dir)
	if err != nil {
		return nil, nil, false, err
	}
	base, program, err := f.opened(dir, os.TempDir())
	if err != nil {
		return nil, nil, false, err
	}
	defer func() { err = errors.Join(err, base.Close()) }()
	c, err := newChecks(f.needs(), f.FS, base)
	if err != nil {
		return nil, nil, false, err
	}
	defer func() { err = errors.Join(err, c.close()) }()
	patches, err := f.bytes(base)
	if err != nil {
		return nil, nil, false, fmt.Errorf("%s: %w", filepath.Join(dir, findingFile), err)
	}
	m := program.Mode(f.Repair)
	if m == nil {
		return nil, nil, false, fmt.Errorf("%s: the program has no mode %q", dir, f.Repair)
	}
	w, err := newWorker(program, base, c)
	if err != nil {
		return nil, nil, false, err
	}
	w.again, w.only, w.damage = true, f.Check, damage.Damage{Group: f.Group, Spec: f.Spec}
	defer func() { err = errors.Join(err, w.close()) }()
	w.ended = ctx.Err
	defer context.AfterFunc(ctx, func() { _ = w.box.Stop() })()
	t, err := w.try(patches, m)
	if err != nil {
		return nil, nil, false, err
	}
	return f, t.runs, t.shows(f), nil
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
