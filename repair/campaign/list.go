package campaign

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"fsward/repair/damage"
	"fsward/repair/fieldmap"
)

// What stands before a path in Config.Damage: a folder of damaged images, and one of them. A path
// that ends with .yaml is a map of fields.
const (
	suitePrefix = "suite:"
	imagePrefix = "image:"
)

// repairedFile has the bytes that repairs of a suite change.
const repairedFile = "repaired.json"

// Check returns an error for values that no campaign can have, or not together.
func (c *Config) Check() error {
	for _, name := range c.Checks {
		if !slices.Contains(CheckNames(), name) {
			return fmt.Errorf("check %q is not one of %s", name, strings.Join(CheckNames(), ", "))
		}
	}
	if _, err := regexp.Compile(c.Fields); err != nil {
		return fmt.Errorf("fields: %w", err)
	}
	if c.Range != "" {
		if _, _, err := readRange(c.Range); err != nil {
			return err
		}
	}
	images := strings.HasPrefix(c.Damage, suitePrefix) || strings.HasPrefix(c.Damage, imagePrefix)
	switch {
	case c.Damage != "" && !images && !strings.HasSuffix(c.Damage, ".yaml"):
		return fmt.Errorf("damage %q is not %sDIR, %sIMG or MAP.yaml", c.Damage, suitePrefix,
			imagePrefix)
	case c.Paths != "" && (c.Paths != AFL || c.Model == damage.Pairs || c.Model == damage.Test ||
		c.Damage != ""):
		return fmt.Errorf("paths %q; want %s, for model %s of the fields that fsward knows", c.Paths, AFL,
			damage.Single)
	case c.Model != "" && !slices.Contains(damage.Models(), c.Model):
		return fmt.Errorf("model %q is not one of %s", c.Model, strings.Join(damage.Models(), ", "))
	case c.Model == damage.Test && !images:
		return fmt.Errorf("model %s damages what repairs of damaged images change: it needs --damage "+
			"%sDIR or %sIMG", damage.Test, suitePrefix, imagePrefix)
	}
	return nil
}

// list lists the damages. w runs the program for those that depend on what it does.
func (c *Campaign) list(ctx context.Context, w *worker) error {
	switch {
	case strings.HasPrefix(c.Damage, suitePrefix):
		s, err := damage.NewSuite(strings.TrimPrefix(c.Damage, suitePrefix))
		if err != nil {
			return err
		}
		return c.listSuite(ctx, w, s)
	case strings.HasPrefix(c.Damage, imagePrefix):
		return c.listSuite(ctx, w, damage.NewImage(strings.TrimPrefix(c.Damage, imagePrefix)))
	}
	m, err := c.fields()
	if err != nil {
		return err
	}
	if m, err = c.selected(m); err != nil {
		return err
	}
	if c.Paths != "" {
		return c.listPaths(ctx, m)
	}
	if c.Model == damage.Pairs {
		m.UsePairs()
	}
	c.model = m
	return nil
}

// fields lists the fields of the image: by the map that the configuration names, or as NewModel
// does.
func (c *Campaign) fields() (*damage.Model, error) {
	if c.Damage == "" {
		return damage.NewModel(c.base, c.FS)
	}
	text, err := readBounded(c.Damage)
	if err != nil {
		return nil, err
	}
	m, err := fieldmap.Parse(text)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", c.Damage, err)
	}
	return damage.Mapped(c.base, m)
}

// selected returns the model of the fields that the configuration selects.
func (c *Campaign) selected(m *damage.Model) (*damage.Model, error) {
	if c.Fields == "" {
		return m, nil
	}
	pattern, err := regexp.Compile(c.Fields)
	if err == nil {
		m, err = m.Only(pattern)
	}
	if err != nil {
		return nil, fmt.Errorf("fields: %w", err)
	}
	return m, nil
}

// listSuite makes damages the images of a suite, or, with model B, further damages of them.
func (c *Campaign) listSuite(ctx context.Context, w *worker, s *damage.Suite) error {
	if len(c.checks.whole()) > 0 {
		return fmt.Errorf("the images of a suite have no state before the damage, which %s needs",
			strings.Join(c.checks.whole(), ", "))
	}
	c.model = s
	switch c.Model {
	case "", damage.Single:
		return nil
	case damage.Pairs:
		return fmt.Errorf("model %s needs the fields of an image, and a suite has none", c.Model)
	}
	if c.repaired == nil {
		for n := range s.Count() {
			r, err := c.repairOf(ctx, w, s, n)
			if err != nil {
				return err
			}
			if r != nil {
				c.repaired = append(c.repaired, *r)
			}
		}
	}
	m, err := damage.NewRepaired(s, c.repaired)
	if err == nil {
		m, err = c.selected(m)
	}
	if err != nil {
		return err
	}
	c.model = m
	return nil
}

// repairOf runs the program's first repair on an image of a suite, and returns the bytes that it
// changes. It returns nil if that is no image, or if the run is broken.
func (c *Campaign) repairOf(ctx context.Context, w *worker, s *damage.Suite, n uint64) (
	*damage.Repaired, error,
) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	d, err := s.At(n)
	if err != nil {
		return nil, err
	}
	if ok, err := w.use(c, d); !ok {
		return nil, err
	}
	if err := w.reset(nil); err != nil {
		return nil, err
	}
	run, err := w.run(&c.program.Repairs[0])
	if err != nil || broken(w.program, run) != "" {
		return nil, err
	}
	now, err := w.contents()
	if err != nil {
		return nil, nil // the program left no image
	}
	defer now.Close()
	changes, err := damage.Changes(w.base, now)
	if err != nil || len(changes) == 0 {
		return nil, err
	}
	return &damage.Repaired{Suite: s.Name(n), Changes: changes}, nil
}

// saveDamages and loadDamages keep what repairs change and what AFL++ found, so that a campaign
// that goes on has the same damages.
func (c *Campaign) saveDamages() error {
	var errs []error
	if c.repaired != nil {
		errs = append(errs, c.saveJSON(repairedFile, c.repaired))
	}
	if c.paths != nil {
		errs = append(errs, c.saveJSON(pathsFile, c.paths))
	}
	return errors.Join(errs...)
}

func (c *Campaign) loadDamages() error {
	return errors.Join(c.loadJSON(repairedFile, &c.repaired), c.loadJSON(pathsFile, &c.paths))
}

// saveJSON writes a value to a file of the folder.
func (c *Campaign) saveJSON(name string, value any) error {
	text, err := json.Marshal(value)
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(c.dir, name), append(text, '\n'), 0o644)
}

// loadJSON reads a value from a file of the folder, if there is one.
func (c *Campaign) loadJSON(name string, value any) error { return loadJSON(c.dir, name, value) }

// loadJSON reads a file of a campaign's folder, if it is there.
func loadJSON(dir, name string, value any) error {
	text, err := readBounded(filepath.Join(dir, name))
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	if err == nil {
		err = json.Unmarshal(text, value)
	}
	if err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	return nil
}
