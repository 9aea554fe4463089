// Package offline holds the commands that need no guest: check, dump, replay, corrupt and the rules
// commands. It builds without cgo. Start reading at Check and Replay.
package offline

import (
	"context"
	"time"

	"fsward/blocktap"
	"fsward/blocktap/qemudisk"
	"fsward/hostd/guard"
	"fsward/interp"
	"fsward/interp/detect"
)

// CheckConfig says how images are checked.
type CheckConfig struct {
	FS       string // detect.Auto or a name
	Degraded bool   // a Btrfs may lack devices, as far as Linux mounts it with the option degraded
	Rules    guard.RulesConfig
}

// Check checks a whole image, or the images of all disks of one file system, as one transaction of
// additions. The images are only read.
func Check(ctx context.Context, images []string, fs string,
	cfg guard.RulesConfig) (*guard.Event, error) {
	return CheckWithProgress(ctx, images, fs, cfg, func(*guard.Progress) {})
}

// CheckWithProgress is Check that reports its progress at intervals.
func CheckWithProgress(ctx context.Context, images []string, fs string, cfg guard.RulesConfig,
	tell func(*guard.Progress)) (*guard.Event, error) {
	disks, err := openImages(images)
	if err != nil {
		return nil, err
	}
	defer disks.Close()
	c := imageCheck{images: images, cfg: CheckConfig{FS: fs, Rules: cfg}, tell: tell}
	return c.run(ctx, &detect.Group{FS: fs, Disk: disks})
}

// An imageCheck checks file systems on the images of a guest's disks.
type imageCheck struct {
	images []string
	cfg    CheckConfig
	tell   func(*guard.Progress)
	rules  *guard.Rules    // nil: not loaded yet
	status *guard.Progress // of the file system that is checked
}

// load loads the rules, once.
func (c *imageCheck) load() (*guard.Rules, error) {
	var err error
	if c.rules == nil {
		cfg := c.cfg.Rules
		cfg.StreamProgress = func(done, total int) { c.due(c.status.Judged(done, total)) }
		c.rules, err = cfg.Load()
	}
	return c.rules, err
}

// due reports the progress if it is time to.
func (c *imageCheck) due(is bool) {
	if is {
		c.tell(c.status)
	}
}

// run checks the file system of a group of volumes.
func (c *imageCheck) run(ctx context.Context, group *detect.Group) (*guard.Event, error) {
	start := time.Now()
	c.status = guard.NewProgress(start)
	rules, err := c.load()
	if err != nil {
		return nil, err
	}
	memory := c.cfg.Rules.MemoryBytes()
	name, obs, err := detect.ImageWith(group.Disk, group.FS, interp.ImageOptions{
		Budget: interp.NewMemoryBudget(memory/2, nil), CacheBytes: int(memory / 16),
		CompareSnapshots: c.cfg.Rules.BuiltIn(), Degraded: c.cfg.Degraded,
		Progress: func(done, total uint64) { c.due(c.status.Read(done, total)) },
	})
	if err != nil {
		return nil, err
	}
	interpreted := time.Since(start)
	group.OnDisks(&obs)
	ev := guard.CheckImage(ctx, rules, name, obs, 0, func(i int) string { return c.images[i] })
	ev.InterpNS, ev.CheckNS = interpreted.Nanoseconds(), time.Since(start).Nanoseconds()
	return ev, nil
}

// images are the images of the disks of one guest, opened for reading.
type images struct {
	*interp.Set
	disks []blocktap.Disk
}

// openImages opens images. After an error none stays open.
func openImages(paths []string) (*images, error) {
	m := &images{}
	var disks []interp.Disk
	for _, path := range paths {
		d, err := qemudisk.OpenImage(path)
		if err != nil {
			m.Close()
			return nil, err
		}
		m.disks = append(m.disks, d)
		disks = append(disks, d)
	}
	var err error
	if m.Set, err = interp.NewSet(disks...); err != nil {
		m.Close()
		return nil, err
	}
	return m, nil
}

// Close closes the images.
func (m *images) Close() {
	for _, d := range m.disks {
		_ = d.Close() // nothing was written
	}
}
