package campaign

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	"fsward/interp"
	"fsward/repair/damage"
	"fsward/repair/paths"
)

// AFL is the way to find paths that Config.Paths names.
const AFL = "afl"

// pathsFile has what a search for paths found.
const pathsFile = "paths.json"

// listPaths makes damages the inputs that AFL++ finds for the fields of a model: one for each path
// of the program.
func (c *Campaign) listPaths(ctx context.Context, m *damage.Model) error {
	places, seals, err := m.Places()
	if err != nil {
		return err
	}
	if c.paths == nil {
		sources := c.Sources
		if sources == "" {
			cache, err := os.UserCacheDir()
			if err != nil {
				return fmt.Errorf("%w: give a folder for the program's source", err)
			}
			sources = filepath.Join(cache, "fsward", "sources")
		}
		if sources, err = filepath.Abs(sources); err != nil {
			return err
		}
		s := paths.Search{Program: c.program, Base: c.base, Places: places, Seals: seals,
			Sources: sources, Tmp: c.tmp, Time: c.PathsTime, Say: c.Say}
		if s.Say == nil {
			s.Say = func(string) {}
		}
		if c.paths, err = s.Run(ctx); err != nil {
			return fmt.Errorf("paths: %w", err)
		}
	}
	c.inputs, err = damage.NewInputs(c.base, places, seals, c.paths.Inputs)
	c.model = c.inputs
	return err
}

// regroup gives a finding of an input the group of the fields that its damage still changes after
// it was minimized. It returns false if another finding is of that group.
func (c *Campaign) regroup(f *Finding, patches []interp.Patch) (bool, error) {
	if c.inputs == nil {
		return true, nil
	}
	old := f.Dir
	var err error
	if f.Group, f.Damage, err = c.inputs.Describe(patches); err != nil {
		return false, err
	}
	f.Spec, f.Dir = f.Damage, f.folder()
	return c.state.regroup(old, f), nil
}
