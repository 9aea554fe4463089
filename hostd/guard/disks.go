package guard

import (
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	"go.uber.org/zap"
	"golang.org/x/sync/semaphore"

	"fsward/blocktap"
	"fsward/change"
	"fsward/hostd/memory"
	"fsward/hostd/recording"
	"fsward/interp"
	"fsward/interp/detect"
)

// Disks are the guarded disks of one guest. Transports serve their devices; Disks owns everything
// behind them.
type Disks struct {
	cfg       Config
	disks     []*guardedDisk
	set       *interp.Set // the disks as one address space
	layout    *detect.Volumes
	volumes   volumeTable
	rules     *Rules
	memory    memory.Limits
	limits    interp.Limits
	kept      uint64 // bound of the old contents of a disk that a baseline check keeps, bytes
	work      *change.WorkBudget
	judging   judgmentWatch
	recording *recording.Recording // nil: nothing is recorded
	crashAudits
	// endRecording ends the recording and its audit.
	endRecording sync.Once
	recheck      time.Duration       // time before another check of an unverified volume
	slots        *semaphore.Weighted // of baseline checks
	log          *zap.Logger
}

// Open opens and locks every disk, reads the baseline of its file system and loads the rules. The
// disks belong to one guest: a file system may have several of them. After an error nothing stays
// open. Close ends it.
func Open(cfg Config, log *zap.Logger) (*Disks, error) {
	if err := cfg.Check(); err != nil {
		return nil, err
	}
	d := &Disks{cfg: cfg, log: log, memory: cfg.Memory, kept: maxKept, work: NewWork(cfg.Work),
		recheck: recheckPause, slots: semaphore.NewWeighted(int64(len(cfg.Disks)))}
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
	cfg.Rules.Memory = cfg.Memory.Disk()
	if d.rules, err = cfg.Rules.Load(); err != nil {
		return err
	}
	if err := cfg.checkPause(d.rules.Info()); err != nil {
		return err
	}
	var disks []interp.Disk
	for _, spec := range cfg.Disks {
		file, err := spec.open(d.log)
		if err != nil {
			return err
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
		g.guard = &Guard{name: g.name, disk: i, rules: d.rules, volumes: &d.volumes,
			sinks: append([]Sink{&g.counts}, cfg.Sinks...), log: d.log, work: d.work,
			judging: &d.judging, undecided: d.unverify, settled: d.settled}
		guards = append(guards, g.guard)
		if cfg.Simulate {
			g.sim = d.simulator(i)
		}
		g.serve(cfg, d.log)
		devices = append(devices, g.device)
	}
	for _, g := range guards {
		g.peers = guards
	}
	blocktap.TakeTurns(devices...)
	if err := d.record(); err != nil {
		return err
	}
	d.judging.begin(d.work)
	d.begin()
	return errors.Join(d.volumes.required(cfg.Require), d.crashAudits.start(cfg, d.disks, d.log))
}

// follow reads the tables on the disks, and the baseline of the file systems on their volumes.
func (d *Disks) follow() (err error) {
	d.limits = d.memory.ForInterpreter(d.volumes.yield)
	d.limits.Work = d.work
	options := detect.VolumeOptions{FS: d.cfg.FS, Limits: d.limits, Require: d.cfg.Require,
		Degraded: d.cfg.Degraded, Refuse: d.cfg.Unguarded == UnguardedRefuse}
	d.layout, err = FollowVolumes(d.set, options, func(i int) string { return d.cfg.Disks[i].Path })
	if err == nil && d.cfg.DataOrdered {
		d.layout.ExpectOrdered()
	}
	return err
}

// begin lets the guards start from the baseline, and reports it.
func (d *Disks) begin() {
	for _, g := range d.disks {
		g.guard.interp, g.guard.layout = d.layout, d.layout
		g.sim.follow(d.layout)
	}
	d.addVolumes(d.layout.Numbers())
	if !d.cfg.Verify {
		return
	}
	for _, v := range d.volumes.all() {
		if v.baseline.Load() == nil {
			d.beginBaseline(v.number, true)
		}
	}
	for _, g := range d.disks {
		g.guard.unjudged = func(volume int) { d.beginBaseline(volume, false) }
	}
}

// Switched tells the guards that the disks were put back to a checkpoint of their guest, which
// stands still. The guards forget what they knew, and take the last commits on the disks as the
// baseline, as when they attach to a running guest: docs/decisions/0030. After an error no verdict
// is right any more, and the Disks must be closed.
func (d *Disks) Switched() (err error) {
	if d.cfg.Record != "" {
		return errors.New("the disks are recorded, and a log cannot say that they were put back")
	}
	d.endBaselines()
	d.disks[0].device.Between(func() { // holds all devices, since they take turns
		for _, g := range d.disks {
			g.guard.dropSpeculative()
			g.sim.settle(interp.CommitPoint) // a transaction that carried a bug is gone
		}
		d.volumes.list.Store(nil)
		if err = d.follow(); err == nil {
			d.begin()
		}
	})
	return err
}

// simulator returns the Simulator of disk i. The disks of one file system share one.
func (d *Disks) simulator(i int) *Simulator {
	for j := range i {
		if d.layout.Together(i, j) {
			return d.disks[j].sim
		}
	}
	return &Simulator{own: i}
}

// Devices returns the guarded devices by name.
func (d *Disks) Devices() map[string]*blocktap.Device {
	out := make(map[string]*blocktap.Device, len(d.disks))
	for _, g := range d.disks {
		out[g.name] = g.device
	}
	return out
}

// Device returns the guarded device of a disk by its name; nil if there is no such disk.
func (d *Disks) Device(disk string) *blocktap.Device {
	g, err := d.disk(disk)
	if err != nil {
		return nil
	}
	return g.device
}

// Simulator returns the Simulator of a disk; nil unless Config.Simulate.
func (d *Disks) Simulator(disk string) *Simulator {
	g, err := d.disk(disk)
	if err != nil {
		return nil
	}
	return g.sim
}

// Outcome returns the worst verdict so far.
func (d *Disks) Outcome() change.Outcome {
	outcome := worst(d.recordingOutcome(), d.crashAudits.outcome())
	for _, g := range d.disks {
		switch {
		case g.counts.violated.Load() > 0:
			return change.Violated
		case g.counts.undecided.Load() > 0:
			outcome = change.Undecided
		}
	}
	guarded, passed := false, false
	for _, v := range d.volumes.all() {
		c := v.baseline.Load()
		if v.unverified.Load() != nil || c != nil && c.lastFailed() {
			outcome = change.Undecided
		}
		guarded = guarded || v.state.Load().FS != ""
		passed = passed || v.passed.Load() > 0
	}
	if passed && !guarded {
		outcome = change.Undecided // no write of the guest was judged
	}
	return outcome
}

// FS returns the file system of the first guarded volume on a disk by the disk's name; "" while
// there is none.
func (d *Disks) FS(disk string) string {
	for _, v := range d.volumes.all() {
		if fs := v.state.Load().FS; v.guard.name == disk && fs != "" {
			return fs
		}
	}
	return ""
}

// Holder returns the policy of a disk that holds writes; nil if nobody could decide. The error
// for an unknown name lists the disks.
func (d *Disks) Holder(disk string) (*Holder, error) {
	g, err := d.disk(disk)
	if err != nil {
		return nil, err
	}
	return g.holder, nil
}

// Report sends all sinks an event of a disk that the guard itself does not see.
func (d *Disks) Report(disk string, ev *Event) {
	if g, err := d.disk(disk); err == nil {
		g.guard.report(nil, ev)
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

// EndRecording ends the recording and its audit. The transports must have stopped. Later calls do
// nothing. Outcome then includes the findings of the audit.
func (d *Disks) EndRecording() (err error) {
	d.endRecording.Do(func() {
		err = d.recording.Close()
		d.crashAudits.end()
	})
	return err
}

// Close flushes and closes every disk and log. The transports must have stopped.
func (d *Disks) Close() error {
	d.judging.end()
	d.endBaselines()
	errs := []error{d.EndRecording()}
	for _, g := range d.disks {
		if g.guard != nil {
			g.guard.dropSpeculative()
		}
		errs = append(errs, g.file.Flush(), g.file.Close())
	}
	d.disks = nil
	return errors.Join(errs...)
}

// Rules describes the rules in force.
func (d *Disks) Rules() RuleSetInfo { return d.rules.Info() }

// Reload reads the rules again, puts them in force between two commits and returns what changed. If
// they do not load, the old rules stay in force and the error says so.
func (d *Disks) Reload() (changes RuleChanges, err error) {
	changes, swap, err := d.rules.Reload()
	if err == nil {
		err = d.cfg.checkPause(changes.RuleSetInfo)
	}
	if err != nil {
		err = fmt.Errorf("the rules do not load, and the old ones stay in force: %w", err)
		d.log.Error("rules not reloaded", zap.Error(err))
		return changes, err
	}
	swap()
	d.log.Info("rules reloaded", zap.Int("rules", changes.Rules), zap.String("hash", changes.Hash),
		zap.Strings("added", changes.Added), zap.Strings("removed", changes.Removed),
		zap.Strings("changed", changes.Changed))
	return changes, nil
}
