package guard

import (
	"context"
	"sync/atomic"

	"go.uber.org/zap"

	"fsward/blocktap"
	"fsward/change"
	"fsward/hostd/crashaudit"
)

// guardedDisk is a disk with everything that belongs to it.
type guardedDisk struct {
	name    string
	file    blocktap.Disk
	device  *blocktap.Device
	guard   *Guard
	holder  *Holder // nil if nobody could decide about a held write
	sim     *Simulator
	witness Witness // may be nil
	counts  counter
	audit   *crashaudit.Audit // of its crash states; may be nil
}

// counter is a Sink that counts commits. It can be read at any time.
type counter struct {
	commits, refused, violated, undecided atomic.Uint64
}

func (c *counter) Event(ev *Event) {
	if ev.Kind == KindCommit {
		c.commits.Add(1)
	}
	if ev.Action == Refused && !ev.Repeats {
		c.refused.Add(1)
	}
	switch ev.Outcome {
	case change.Violated:
		c.violated.Add(1)
	case change.Undecided:
		if ev.Kind != KindBaseline { // another check follows: see baselineCheck.lastFailed
			c.undecided.Add(1)
		}
	}
}

// serve makes the device of a disk. The disk's guard exists already.
func (g *guardedDisk) serve(cfg Config, log *zap.Logger) {
	disk := g.file
	if g.witness != nil {
		g.guard.witness = g.witness
		disk = g.witness.Of(disk)
	}
	g.device = blocktap.NewDevice(disk, g.guard)
	g.guard.base, g.guard.requests = g.file, g.device.Requests
	g.guard.late.timeout, g.guard.late.flush = cfg.LagTimeout, g.flush
	if cfg.canPause() {
		g.holder = NewHolder(cfg.Guest, log)
	}
	g.guard.policy = cfg.policy(g.holder)
	g.guard.bug = g.sim
}

// flush flushes the disk as if the guest had asked for it.
func (g *guardedDisk) flush() error {
	return g.device.Do(context.Background(), &blocktap.Request{Op: blocktap.OpFlush})
}
