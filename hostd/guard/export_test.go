package guard

import (
	"go.uber.org/zap"

	"fsward/blocktap"
	"fsward/interp"
)

// What the tests of this package, which use a rig that imports it, see of its inside.

const MaxAttempts = maxAttempts

var ErrMoved = errMoved

// NewGuard returns a guard of a disk named vda.
func NewGuard(i interp.Interpreter, rules *Rules, policy Policy, sinks ...Sink) *Guard {
	return &Guard{name: "vda", interp: i, rules: rules, policy: policy, sinks: sinks,
		log: zap.NewNop()}
}

// NewDisks returns no disks, whose rules can be loaded again.
func NewDisks(rules *Rules) *Disks { return &Disks{rules: rules, log: zap.NewNop()} }

// BaselineCheckOf returns the last check of the baseline of a disk; nil if there is none.
func (d *Disks) BaselineCheckOf(disk int) *baselineCheck { return d.disks[disk].baseline.Load() }

// Ended is closed when the check is over.
func (p *baselineCheck) Ended() <-chan struct{} { return p.done }

// CheckAgain begins to check the baseline of the first disk, of whose old state nothing may be
// kept. asked is called before each rest, with whether another attempt reads the disk than when it
// was called last.
func (d *Disks) CheckAgain(asked func(device *blocktap.Device, another bool) uint64) {
	d.kept = 0
	g := d.disks[0]
	var last *snapshot
	g.guard.requests = func() uint64 {
		now := g.guard.snapshot.Load()
		another := now != last
		last = now
		return asked(g.device, another)
	}
	g.device.Between(func() { d.beginBaseline(0, true) })
}

// Pool returns the memory that the disks share.
func (d *Disks) Pool() *interp.MemoryPool { return d.limits.Pool }

// Drop ends what the guard judges ahead.
func (g *Guard) Drop() { g.dropSpeculative() }
