package campaign

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/google/renameio/v2"

	"fsward/repair"
	"fsward/repair/adapter"
	"fsward/repair/damage"
	"fsward/repair/paths"
	"fsward/repair/testimage"
)

// Names of the files of a campaign, beside its findings.
const (
	configFile   = "campaign.json"
	progressFile = "progress.json"
)

// Config says what a campaign tests. Its JSON text is kept with the results.
type Config struct {
	FS      string   `json:"fs"`
	Program string   `json:"program"`         // name, or path of a description
	Image   string   `json:"image,omitempty"` // path; "": an image is made
	Checks  []string `json:"checks,omitempty"`
	Modes   []string `json:"modes,omitempty"`  // of the program; none: all
	Damage  string   `json:"damage,omitempty"` // see Campaign.list; "": of fields of the image
	Model   string   `json:"model,omitempty"`  // of damages; see damage.Models
	Fields  string   `json:"fields,omitempty"` // pattern of the fields to damage; "": all
	Paths   string   `json:"paths,omitempty"`  // AFL: of inputs that AFL++ finds
	Range   string   `json:"range,omitempty"`  // of numbers of damages, FIRST-LAST; "": all
	Workers int      `json:"workers"`
	Replays int      `json:"replays,omitempty"` // of each new finding
	// PathsTime is that of AFL++, and Sources the folder of the program's source; "": one in the
	// user's cache.
	PathsTime time.Duration `json:"paths_time,omitempty"`
	Sources   string        `json:"sources,omitempty"`
	// Say is told what begins before the first damage; nil: nobody is.
	Say func(string) `json:"-"`
}

// Event is a report of a campaign: its progress, or a new finding.
type Event struct {
	Progress
	Finding *Finding // nil: only progress
}

// A Campaign is a test of one program on one image. Its folder holds all that it needs to go on.
type Campaign struct {
	Config
	dir     string
	tmp     string
	base    *testimage.Image
	program *adapter.Program
	text    []byte // of the program's description
	version string
	checks  *checks
	model   damages
	// repaired are what model B damages; nil: another model.
	repaired []damage.Repaired
	// paths are what AFL++ found, and inputs the damages that they are; nil: not asked.
	paths  *paths.Found
	inputs *damage.Inputs
	state  *state
	lock   *os.File // the folder
	// saveEvery is the time between two saves of the state: the work that a kill can lose.
	saveEvery time.Duration
}

// damages are what a campaign tries, by number.
type damages interface {
	First() uint64 // the number of those that are tried first
	Count() uint64
	Fields() (fields, groups int)
	At(n uint64) (*damage.Damage, error) // the error is damage.ErrNone if there is none
}

// Create makes the folder of a new campaign, which must not exist or be empty.
func Create(ctx context.Context, dir string, cfg Config) (c *Campaign, err error) {
	if err := cfg.Check(); err != nil {
		return nil, err
	}
	c = &Campaign{Config: cfg, dir: dir, tmp: os.TempDir(), state: newState(), saveEvery: savePause}
	if c.program, c.text, err = adapter.Find(cfg.Program, cfg.FS); err != nil {
		return nil, err
	}
	if c.Program == "" {
		c.Config.Program = c.program.Name
	}
	if err := checkEmpty(dir); err != nil {
		return nil, err
	}
	if c.Image != "" {
		c.base, err = testimage.Open(c.Image)
	} else {
		c.base, err = testimage.Build(ctx, c.FS, c.tmp)
	}
	if err != nil {
		return nil, err
	}
	if err := c.prepare(ctx); err != nil {
		return nil, errors.Join(err, c.Close())
	}
	if err := c.saveFolder(); err != nil {
		return nil, errors.Join(err, c.Close())
	}
	return c, nil
}

// saveFolder makes and locks the folder, and writes the files that a later Open needs. The last one
// is the configuration.
func (c *Campaign) saveFolder() (err error) {
	if err := os.MkdirAll(c.dir, 0o755); err != nil {
		return err
	}
	if c.lock, err = lockFolder(c.dir); err != nil {
		return err
	}
	if err := c.base.Save(filepath.Join(c.dir, baseFile)); err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(c.dir, adapterFile), c.text, 0o644); err != nil {
		return err
	}
	if err := c.saveDamages(); err != nil {
		return err
	}
	text, err := json.MarshalIndent(c.Config, "", "  ")
	if err != nil {
		return err
	}
	return renameio.WriteFile(filepath.Join(c.dir, configFile), append(text, '\n'), 0o644)
}

// Open opens the folder of a campaign, to go on with it. It returns an error if another process
// works on the campaign.
func Open(ctx context.Context, dir string) (c *Campaign, err error) {
	text, err := readConfig(dir)
	if err != nil {
		return nil, err
	}
	c = &Campaign{dir: dir, tmp: os.TempDir(), saveEvery: savePause}
	if c.lock, err = lockFolder(dir); err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, c.Close())
		}
	}()
	if err := json.Unmarshal(text, &c.Config); err != nil {
		return nil, fmt.Errorf("%s: %w", filepath.Join(dir, configFile), err)
	}
	if err := c.Check(); err != nil {
		return nil, fmt.Errorf("%s: %w", filepath.Join(dir, configFile), err)
	}
	if c.text, err = readBounded(filepath.Join(dir, adapterFile)); err != nil {
		return nil, err
	}
	if c.program, err = adapter.Parse(c.text); err != nil {
		return nil, err
	}
	if c.state, err = loadState(dir); err != nil {
		return nil, err
	}
	if c.base, err = testimage.Load(filepath.Join(dir, baseFile), c.tmp); err != nil {
		return nil, err
	}
	if err := c.loadDamages(); err != nil {
		return nil, err
	}
	return c, c.prepare(ctx)
}

// prepare reads the image's fields, and runs the program on the image without damage: it must call
// it consistent.
func (c *Campaign) prepare(ctx context.Context) (err error) {
	if err := c.program.Keep(c.Modes); err != nil {
		return err
	}
	if c.checks, err = newChecks(c.Checks, c.FS, c.base); err != nil {
		return err
	}
	w, err := newWorker(c.program, c.base, c.checks)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, w.close()) }()
	c.version = c.program.VersionText(ctx)
	if err := w.sound(); err != nil {
		return err
	}
	if err := c.list(ctx, w); err != nil {
		return err
	}
	c.model, err = within(c.model, c.Range)
	return err
}

// Close frees the image and the folder, and ends what checks have started.
func (c *Campaign) Close() (err error) {
	if c.lock != nil {
		err = c.lock.Close()
	}
	if c.base != nil {
		err = errors.Join(err, c.base.Close())
	}
	return errors.Join(err, c.checks.close())
}

// Folder returns the path of the campaign's folder.
func (c *Campaign) Folder() string { return c.dir }

// Describe returns what is tested, for people.
func (c *Campaign) Describe() string {
	fields, groups := c.model.Fields()
	text := fmt.Sprintf("%s (%s) on %s: %s in %s, %s first, %d in all", c.program.Name, c.version,
		c.FS, repair.Count(fields, "field"), repair.Count(groups, "group"),
		repair.Count(c.model.First(), "damage"), c.model.Count())
	if c.paths != nil {
		text += "\n" + c.paths.String()
	}
	return text
}

// Limits bound a run of a campaign. 0 is no bound.
type Limits struct {
	Time    time.Duration
	Damages uint64
}
