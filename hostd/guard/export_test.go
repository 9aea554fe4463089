package guard

import (
	"sync"
	"time"

	"go.uber.org/zap"

	"fsward/blocktap"
	"fsward/interp"
)

// Access for the external tests of this package, which use a rig that imports it.

const MaxAttempts = maxAttempts

var ErrMoved = errMoved

// NewGuard returns a guard of a disk named vda.
func NewGuard(i interp.Interpreter, rules *Rules, policy Policy, sinks ...Sink) *Guard {
	return &Guard{name: "vda", interp: i, rules: rules, policy: policy, sinks: sinks,
		log: zap.NewNop()}
}

// NewDisks returns Disks without a disk, whose rules can be reloaded.
func NewDisks(rules *Rules) *Disks { return &Disks{rules: rules, log: zap.NewNop()} }

// BaselineCheckOf returns the last check of the baseline of a disk; nil if there is none.
func (d *Disks) BaselineCheckOf(disk int) *baselineCheck {
	return d.volumes.at(disk).baseline.Load()
}

// Ended returns a channel that is closed when the check is over.
func (p *baselineCheck) Ended() <-chan struct{} { return p.done }

// CheckAgain begins a check of the baseline of the first disk, which may keep nothing of the old
// state. onRest is called before each rest. another reports whether a new attempt has begun since
// the last call.
func (d *Disks) CheckAgain(onRest func(device *blocktap.Device, another bool) uint64) {
	d.kept, d.recheck = 0, 10*time.Millisecond
	g := d.disks[0]
	var last *snapshot
	g.guard.requests = func() uint64 {
		now := d.volumes.at(0).snapshot.Load()
		another := now != last
		last = now
		return onRest(g.device, another)
	}
	d.BeginBaseline()
}

// BeginBaseline begins a check of the baseline of the first disk.
func (d *Disks) BeginBaseline() { d.disks[0].device.Between(func() { d.beginBaseline(0, true) }) }

// VolumesOf returns the number of volumes of the file system on a volume, with those of its seeds.
func (d *Disks) VolumesOf(number int) int {
	return len(d.volumeOf(number)) + len(d.layout.Seeds(number))
}

// Pool returns the memory that the disks share.
func (d *Disks) Pool() *interp.MemoryPool { return d.limits.Pool }

// Drop stops the speculative check.
func (g *Guard) Drop() { g.dropSpeculative() }

// SlowChecks makes checks of the baseline wait after each attempt to read, until the returned
// function is called or they are stopped.
func (d *Disks) SlowChecks() (release func()) {
	var once sync.Once
	hold := make(chan struct{})
	for i, g := range d.disks {
		g.guard.requests = func() uint64 {
			g := d.volumes.at(i).baseline.Load()
			if g == nil {
				return 0
			}
			if a := g.current.Load(); a != nil {
				select {
				case <-hold:
				case <-a.ctx.Done():
				}
			}
			return 0
		}
	}
	return func() { once.Do(func() { close(hold) }) }
}

// JudgmentProgress is the progress of a judgment.
var JudgmentProgress = judgmentProgress

// PolicyOf returns the policy of names, with a holder for writes that are held.
func PolicyOf(p Policies, holder *Holder) Policy { return p.policy(holder) }

// CheckPause checks that someone can decide about what rules hold.
func CheckPause(c *Config, rules *Rules) error { return c.checkPause(rules.Info()) }

// CountEvents counts events as the status does.
func CountEvents(events ...*Event) (commits, refused uint64) {
	var c counter
	for _, ev := range events {
		c.Event(ev)
	}
	return c.commits.Load(), c.refused.Load()
}

// Again loads the rules in force once more, as the check of a baseline does.
func (r *Rules) Again() (*Rules, error) { return r.again(0, nil) }

// Swap puts other rules in force, and returns a function that puts the old ones back.
func (r *Rules) Swap(other *Rules) (back func()) {
	old := r.set.Swap(other.set.Load())
	return func() { r.set.Store(old) }
}

// Prepared lists the file systems whose rules can judge at once.
func (d *Disks) Prepared() (list []string) {
	for _, fs := range FileSystems() {
		if s := d.rules.set.Load().systems[fs]; s != nil && s.prepared.Load() {
			list = append(list, fs)
		}
	}
	return list
}
