package campaign

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"fsward/repair"
	"fsward/repair/adapter"
	"fsward/repair/damage"
)

// Replay runs the program of a finding again. It returns the runs, and whether they show the
// finding.
func Replay(dir string) (f *Finding, runs []*Run, shows bool, err error) {
	f, err = LoadFinding(dir)
	if err != nil {
		return nil, nil, false, err
	}
	base, program, err := f.opened(dir, os.TempDir())
	if err != nil {
		return nil, nil, false, err
	}
	defer func() { err = errors.Join(err, base.Close()) }()
	c, err := newChecks(f.Checks, f.FS, base)
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
	w.again, w.damage = true, damage.Damage{Group: f.Group, Spec: f.Spec}
	defer func() { err = errors.Join(err, w.close()) }()
	t, err := w.try(patches, m)
	if err != nil {
		return nil, nil, false, err
	}
	return f, t.runs, t.shows(f), nil
}

// sound runs each mode on the image without damage. Every one must call it consistent.
func (w *worker) sound() error {
	modes := append([]adapter.Mode{}, w.program.Repairs...)
	if w.program.Check != nil {
		modes = append(modes, *w.program.Check)
	}
	for i := range modes {
		if err := w.reset(nil); err != nil {
			return err
		}
		r, err := w.run(&modes[i])
		if err != nil {
			return err
		}
		want := repair.Consistent
		if second := w.program.Second(&modes[i]); second != &modes[i] && r.Outcome == repair.Corrected {
			continue // the statuses of this mode do not tell the two apart
		}
		if r.Outcome != want {
			return fmt.Errorf("%s does not call the image without damage consistent: %s\n%s",
				w.program.Name, r.Ended(), r.Output)
		}
	}
	return nil
}
