package guard

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"sync/atomic"

	"go.uber.org/zap"

	"fsward/blocktap"
	"fsward/blocktap/trace"
	"fsward/change"
	"fsward/hostd/memory"
	"fsward/interp"
	"fsward/interp/detect"
)

// Config says what a daemon guards and how.
type Config struct {
	Disks       []DiskSpec
	FS          string // detect.Auto or a name
	OnViolation string // OnRefuse, OnPause, OnLog
	Rules       RulesConfig
	Record      string // "" or the path of a dm-log-writes log; with several disks .NAME is appended, for one of each
	Guest       Suspender
	Simulate    bool // disks can be told to simulate a bug
	Verify      bool // check the baseline as a whole, in the background
	DataOrdered bool // the guest mounts ext3 with data=ordered
	Memory      memory.Limits
	Sinks       []Sink
}

// DiskSpec names a disk and its image or block device.
type DiskSpec struct {
	Name, Path string
	Disk       blocktap.Disk // if not nil, what is guarded in the place of what Path names; Close closes it
	Witness    Witness       // sees what the guard does to the disk; may be nil
}

// A Witness sees what is done to a guarded disk.
type Witness interface {
	// Of returns the disk that the device works on: d, and whatever it does with it is seen.
	Of(d blocktap.Disk) blocktap.Disk
	// Refused notes that a write was completed with an error.
	Refused()
}

// ParseDiskSpec reads NAME=PATH, or PATH, whose name is then the file's without its extension.
func ParseDiskSpec(s string) (DiskSpec, error) {
	name, path, named := strings.Cut(s, "=")
	if !named {
		path = s
		name = strings.TrimSuffix(filepath.Base(path), filepath.Ext(path))
	}
	if name == "" || path == "" || strings.ContainsAny(name, "/ \t\n") {
		return DiskSpec{}, fmt.Errorf("disk %q: expected IMG or NAME=IMG, with a name without spaces or slashes", s)
	}
	return DiskSpec{Name: name, Path: path}, nil
}

// Disks are the guarded disks of one guest. Transports serve their devices; Disks owns what is behind them.
type Disks struct {
	cfg      Config
	disks    []*guardedDisk
	set      *interp.Set // the disks as one address space
	follower *detect.Follower
	rules    *Rules
	memory   memory.Limits
	limits   interp.Limits
	kept     uint64 // bounds what passes keep of a disk, bytes
	log      *zap.Logger
}

// guardedDisk is a disk with everything that belongs to it.
type guardedDisk struct {
	name     string
	file     blocktap.Disk
	device   *blocktap.Device
	guard    *Guard
	holder   *Holder // nil unless the policy pauses
	sim      *Simulator
	tape     *trace.Writer
	witness  Witness                       // may be nil
	baseline atomic.Pointer[baselineCheck] // the last one over the disk's file system
	counts   counter
}

// counter is a Sink that counts commits and can be read at any time.
type counter struct {
	commits, refused, violated, undecided atomic.Uint64
	fs                                    atomic.Value // string
}

func (c *counter) Event(ev *Event) {
	if ev.Kind == KindCommit {
		c.commits.Add(1)
	}
	if ev.Action == Refused {
		c.refused.Add(1)
	}
	switch ev.Outcome {
	case change.Violated:
		c.violated.Add(1)
	case change.Undecided:
		c.undecided.Add(1)
	}
	c.fs.Store(ev.FS)
}

// name returns the file system's name; "" while it is not known.
func (c *counter) name() string {
	fs, _ := c.fs.Load().(string)
	return fs
}

// Open opens and locks every disk, reads the baseline of its file system and loads the rules. The disks are
// those of one guest: a file system may have several of them. On an error nothing stays open. Close ends it.
func Open(cfg Config, log *zap.Logger) (*Disks, error) {
	if err := CheckPolicyName(cfg.OnViolation); err != nil {
		return nil, err
	}
	d := &Disks{cfg: cfg, log: log, memory: cfg.Memory, kept: maxKept}
	if err := d.open(cfg); err != nil {
		return nil, errors.Join(err, d.Close())
	}
	return d, nil
}

func (d *Disks) open(cfg Config) error {
	seen := make(map[string]bool)
	for _, spec := range cfg.Disks {
		if seen[spec.Name] {
			return fmt.Errorf("two disks are named %q: give one another name with NAME=IMG", spec.Name)
		}
		seen[spec.Name] = true
	}
	var err error
	if d.rules, err = cfg.Rules.Load(); err != nil {
		return err
	}
	var disks []interp.Disk
	for _, spec := range cfg.Disks {
		file := spec.Disk
		if file == nil {
			if file, err = blocktap.OpenFile(spec.Path, blocktap.FileOptions{}); err != nil {
				return err
			}
		}
		d.disks = append(d.disks, &guardedDisk{name: spec.Name, file: file, witness: spec.Witness})
		disks = append(disks, file)
	}
	if d.set, err = interp.NewSet(disks...); err != nil {
		return err
	}
	if err := d.follow(); err != nil {
		return err
	}
	var devices []*blocktap.Device
	var guards []*Guard
	for i, g := range d.disks {
		g.guard = &Guard{name: g.name, disk: i, rules: d.rules, sinks: append([]Sink{&g.counts}, cfg.Sinks...), log: d.log}
		guards = append(guards, g.guard)
		if cfg.Simulate {
			g.sim = d.simulator(i)
		}
		if err := g.serve(cfg, d.log); err != nil {
			return err
		}
		devices = append(devices, g.device)
	}
	for _, g := range guards {
		g.peers = guards
	}
	blocktap.TakeTurns(devices...)
	if cfg.Record != "" {
		var tapes []*trace.Writer
		for _, g := range d.disks {
			tapes = append(tapes, g.tape)
		}
		trace.Together(tapes...)
	}
	d.begin()
	return nil
}

// follow reads the baseline of what is on the disks.
func (d *Disks) follow() (err error) {
	d.limits = d.memory.ForInterpreter(d.yield)
	d.follower, err = Follow(d.set, d.cfg.FS, d.limits, func(i int) string { return d.cfg.Disks[i].Path })
	if err == nil && d.cfg.DataOrdered {
		d.follower.ExpectOrdered()
	}
	return err
}

// begin has the guards go on from the baseline that was read, and say so.
func (d *Disks) begin() {
	for _, g := range d.disks {
		g.guard.interp = d.follower
	}
	for i, g := range d.disks {
		g.guard.attached(context.Background(), d.follower.On(i), d.follower.Found(i))
	}
	if !d.cfg.Verify {
		return
	}
	for i, g := range d.disks {
		if g.baseline.Load() == nil {
			d.beginBaseline(i, true)
		}
		g.guard.unjudged = func(disk int) { d.beginBaseline(disk, false) }
	}
}

// Switched is told that the disks hold what they held at another moment: that of a checkpoint of their guest, which stands
// still. What was known of them is forgotten, and their last commits are the baseline, as when a guard begins on the disks of
// a guest that runs: docs/decisions/0030. After an error the daemon judges nothing that is right, and has to be closed.
func (d *Disks) Switched() (err error) {
	if d.cfg.Record != "" {
		return errors.New("the disks are recorded, and a log cannot say that they were put back")
	}
	d.endBaselines()
	d.disks[0].device.Between(func() { // all of them: they take turns
		for _, g := range d.disks {
			g.guard.dropSpeculative()
			g.sim.settle(interp.CommitPoint) // a transaction that carried a bug is none any more
			g.baseline.Store(nil)
		}
		if err = d.follow(); err == nil {
			d.begin()
		}
	})
	return err
}

// simulator returns what simulates a bug on disk i: the disks of one file system share theirs.
func (d *Disks) simulator(i int) *Simulator {
	for j := range i {
		if d.follower.Together(i, j) {
			d.disks[j].sim.disk, d.disks[j].sim.start = d.set, 0
			return d.disks[j].sim
		}
	}
	return &Simulator{disk: d.disks[i].file, start: interp.Address(i, 0)}
}

// serve makes the device of a disk whose guard is there.
func (g *guardedDisk) serve(cfg Config, log *zap.Logger) error {
	disk := g.file
	if g.witness != nil {
		g.guard.witness = g.witness
		disk = g.witness.Of(disk)
	}
	g.device = blocktap.NewDevice(disk, g.guard)
	g.guard.base, g.guard.requests = g.file, g.device.Requests
	switch cfg.OnViolation {
	case OnRefuse:
		g.guard.policy = RefusePolicy{}
	case OnPause:
		g.holder = NewHolder(cfg.Guest, log)
		g.guard.policy = g.holder
	case OnLog:
		g.guard.policy = LogPolicy{}
	}
	g.guard.bug = g.sim
	if cfg.Record != "" {
		var err error
		if g.tape, err = trace.Create(RecordPath(cfg, g.name)); err != nil {
			return err
		}
		g.device.Record(g.tape)
	}
	return nil
}

func RecordPath(cfg Config, disk string) string {
	if len(cfg.Disks) == 1 {
		return cfg.Record
	}
	return cfg.Record + "." + disk
}

// Devices returns the guarded devices by name.
func (d *Disks) Devices() map[string]*blocktap.Device {
	out := make(map[string]*blocktap.Device, len(d.disks))
	for _, g := range d.disks {
		out[g.name] = g.device
	}
	return out
}

// Device returns the guarded device of a disk by its name; nil if there is none.
func (d *Disks) Device(disk string) *blocktap.Device {
	g, err := d.disk(disk)
	if err != nil {
		return nil
	}
	return g.device
}

// Simulator returns what simulates a bug on a disk; nil unless Config.Simulate.
func (d *Disks) Simulator(disk string) *Simulator {
	g, err := d.disk(disk)
	if err != nil {
		return nil
	}
	return g.sim
}

// Outcome is that of all that the daemon has judged so far.
func (d *Disks) Outcome() change.Outcome {
	outcome := change.Holds
	for _, g := range d.disks {
		switch {
		case g.counts.violated.Load() > 0:
			return change.Violated
		case g.counts.undecided.Load() > 0:
			outcome = change.Undecided
		}
	}
	return outcome
}

// FS returns the file system of a disk by its name; "" while it is not known.
func (d *Disks) FS(disk string) string {
	g, err := d.disk(disk)
	if err != nil {
		return ""
	}
	return g.counts.name()
}

// Holder returns the policy of a disk that pauses; nil unless Config.OnViolation is OnPause. An error lists the disks.
func (d *Disks) Holder(disk string) (*Holder, error) {
	g, err := d.disk(disk)
	if err != nil {
		return nil, err
	}
	return g.holder, nil
}

// Report tells all sinks of an event of a disk that the guard itself does not see.
func (d *Disks) Report(disk string, ev *Event) {
	if g, err := d.disk(disk); err == nil {
		g.guard.report(ev)
	}
}

// Names lists the disks in their order.
func (d *Disks) Names() (names []string) {
	for _, g := range d.disks {
		names = append(names, g.name)
	}
	return names
}

func (d *Disks) disk(name string) (*guardedDisk, error) {
	for _, g := range d.disks {
		if g.name == name {
			return g, nil
		}
	}
	return nil, fmt.Errorf("no disk %q: this daemon guards %s", name, strings.Join(d.Names(), ", "))
}

// Close flushes and closes every disk and log. The transports must have stopped.
func (d *Disks) Close() error {
	d.endBaselines()
	var errs []error
	for _, g := range d.disks {
		if g.guard != nil {
			g.guard.dropSpeculative()
		}
		if g.tape != nil {
			errs = append(errs, g.tape.Close())
		}
		errs = append(errs, g.file.Flush(), g.file.Close())
	}
	d.disks = nil
	return errors.Join(errs...)
}

// Reload reads the rules again, puts them in force between two commits and returns how many there are. If they do not
// load the old ones stay in force, and the error says so.
func (d *Disks) Reload() (rules int, err error) {
	swap, err := d.rules.Reload()
	if err != nil {
		err = fmt.Errorf("the rules do not load, those that were in force stay: %w", err)
		d.log.Error("rules not reloaded", zap.Error(err))
		return 0, err
	}
	swap()
	for _, fs := range FileSystems() {
		rules += len(d.rules.List(fs))
	}
	d.log.Info("rules reloaded", zap.Int("rules", rules))
	return rules, nil
}
