package hostd

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
	"fsward/hostd/calls"
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
	Calls       bool // the guest's calls are held against the disks: see ServeCalls
	Memory      Memory
	Sinks       []Sink
}

// DiskSpec names a disk and its image or block device.
type DiskSpec struct {
	Name, Path string
	Disk       blocktap.Disk // if not nil, what is guarded in the place of what Path names; the daemon closes it
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

// A Daemon guards disks. Transports serve Devices; the daemon owns what is behind them.
type Daemon struct {
	cfg      Config
	disks    []*guarded
	set      *interp.Set // the disks as one address space
	follower *detect.Follower
	rules    *Rules
	memory   Memory
	limits   interp.Limits
	kept     uint64 // bounds what passes keep of a disk, bytes
	log      *zap.Logger
}

// guarded is a disk with everything that belongs to it.
type guarded struct {
	name   string
	file   blocktap.Disk
	device *blocktap.Device
	guard  *Guard
	holder *Holder // nil unless the policy pauses
	sim    *Simulator
	tape   *trace.Writer
	diary  *calls.Diary         // nil unless Config.Calls
	pass   atomic.Pointer[pass] // the last one over the disk's file system
	counts counter
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

// Open opens and locks every disk, reads the baseline of its file system and loads the rules. The disks are
// those of one guest: a file system may have several of them. On an error nothing stays open. Close ends it.
func Open(cfg Config, log *zap.Logger) (*Daemon, error) {
	if err := CheckPolicyName(cfg.OnViolation); err != nil {
		return nil, err
	}
	d := &Daemon{cfg: cfg, log: log, memory: cfg.Memory, kept: maxKept}
	if err := d.open(cfg); err != nil {
		return nil, errors.Join(err, d.Close())
	}
	return d, nil
}

func (d *Daemon) open(cfg Config) error {
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
		d.disks = append(d.disks, &guarded{name: spec.Name, file: file})
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
func (d *Daemon) follow() (err error) {
	d.limits = d.memory.limits(d.yield)
	d.follower, err = followDisks(d.set, d.cfg.FS, d.limits, func(i int) string { return d.cfg.Disks[i].Path })
	if err == nil && d.cfg.DataOrdered {
		d.follower.ExpectOrdered()
	}
	return err
}

// begin has the guards go on from the baseline that was read, and say so.
func (d *Daemon) begin() {
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
		if g.pass.Load() == nil {
			d.beginPass(i, true)
		}
		g.guard.unjudged = func(disk int) { d.beginPass(disk, false) }
	}
}

// Switched is told that the disks hold what they held at another moment: that of a checkpoint of their guest, which stands
// still. What was known of them is forgotten, and their last commits are the baseline, as when a guard begins on the disks of
// a guest that runs: docs/decisions/0030. After an error the daemon judges nothing that is right, and has to be closed.
func (d *Daemon) Switched() (err error) {
	if d.cfg.Record != "" {
		return errors.New("the disks are recorded, and a log cannot say that they were put back")
	}
	d.endPasses()
	d.disks[0].device.Between(func() { // all of them: they take turns
		for _, g := range d.disks {
			g.guard.forget()
			g.sim.settle(interp.CommitPoint) // a transaction that carried a bug is none any more
			g.pass.Store(nil)
		}
		if err = d.follow(); err == nil {
			d.begin()
		}
	})
	return err
}

// simulator returns what simulates a bug on disk i: the disks of one file system share theirs.
func (d *Daemon) simulator(i int) *Simulator {
	for j := range i {
		if d.follower.Together(i, j) {
			d.disks[j].sim.disk, d.disks[j].sim.start = d.set, 0
			return d.disks[j].sim
		}
	}
	return &Simulator{disk: d.disks[i].file, start: interp.Address(i, 0)}
}

// followDisks is detect.Follow with errors that name the image of the disk.
func followDisks(d interp.Disk, fs string, limits interp.Limits, path func(i int) string) (*detect.Follower, error) {
	follower, err := detect.FollowWithin(d, fs, limits)
	if e, ok := errors.AsType[*detect.DiskError](err); ok {
		return nil, fmt.Errorf("%s: %w", path(e.Disk), e.Err)
	}
	return follower, err
}

// serve makes the device of a disk whose guard is there.
func (g *guarded) serve(cfg Config, log *zap.Logger) error {
	disk := g.file
	if cfg.Calls {
		g.diary = &calls.Diary{}
		g.guard.diary = g.diary
		disk = g.diary.Of(disk)
	}
	g.device = blocktap.NewDevice(disk, g.guard)
	g.guard.base, g.guard.requests = g.file, g.device.Requests
	switch cfg.OnViolation {
	case OnRefuse:
		g.guard.policy = refusePolicy{}
	case OnPause:
		g.holder = NewHolder(cfg.Guest, log)
		g.guard.policy = g.holder
	case OnLog:
		g.guard.policy = logPolicy{}
	}
	g.guard.bug = g.sim
	if cfg.Record != "" {
		var err error
		if g.tape, err = trace.Create(recordPath(cfg, g.name)); err != nil {
			return err
		}
		g.device.Record(g.tape)
	}
	return nil
}

func recordPath(cfg Config, disk string) string {
	if len(cfg.Disks) == 1 {
		return cfg.Record
	}
	return cfg.Record + "." + disk
}

// Devices returns the guarded devices by name.
func (d *Daemon) Devices() map[string]*blocktap.Device {
	out := make(map[string]*blocktap.Device, len(d.disks))
	for _, g := range d.disks {
		out[g.name] = g.device
	}
	return out
}

// Device returns the guarded device of a disk by its name; nil if there is none.
func (d *Daemon) Device(disk string) *blocktap.Device {
	g, err := d.disk(disk)
	if err != nil {
		return nil
	}
	return g.device
}

// Simulator returns what simulates a bug on a disk; nil unless Config.Simulate.
func (d *Daemon) Simulator(disk string) *Simulator {
	g, err := d.disk(disk)
	if err != nil {
		return nil
	}
	return g.sim
}

// Outcome is that of all that the daemon has judged so far.
func (d *Daemon) Outcome() change.Outcome {
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

// Status tells the state of every disk.
func (d *Daemon) Status() []DiskStatus {
	var out []DiskStatus
	for _, g := range d.disks {
		s := DiskStatus{Name: g.name, Commits: g.counts.commits.Load(), Refused: g.counts.refused.Load()}
		s.FS, _ = g.counts.fs.Load().(string)
		if p := g.pass.Load(); p != nil {
			status := p.Status()
			s.Baseline = &status
		}
		if g.holder != nil {
			if ev, since := g.holder.Held(); ev != nil {
				s.Held, s.Since = fmt.Sprintf("%s %s: %s", ev.FS, commitText(ev), verdictText(ev)), &since
			}
		}
		out = append(out, s)
	}
	return out
}

func (d *Daemon) disk(name string) (*guarded, error) {
	var names []string
	for _, g := range d.disks {
		if g.name == name {
			return g, nil
		}
		names = append(names, g.name)
	}
	return nil, fmt.Errorf("no disk %q: this daemon guards %s", name, strings.Join(names, ", "))
}

// Close flushes and closes every disk and log. The transports must have stopped.
func (d *Daemon) Close() error {
	d.endPasses()
	var errs []error
	for _, g := range d.disks {
		if g.guard != nil {
			g.guard.forget()
		}
		if g.tape != nil {
			errs = append(errs, g.tape.Close())
		}
		errs = append(errs, g.file.Flush(), g.file.Close())
	}
	d.disks = nil
	return errors.Join(errs...)
}
