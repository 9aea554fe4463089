package guard

import (
	"context"

	"fsward/blocktap"
)

// beginBaseline begins a check of the present state of the file system on a volume. It is called
// while no write is being performed. A check that still reads an older state of the same volumes is
// stopped. At most as many checks run at a time as there are disks. A volume that waits for its
// turn is checked in the state that it has then.
func (d *Disks) beginBaseline(number int, skipLog bool) {
	c := &baselineCheck{
		skipLog: skipLog, degraded: d.cfg.Degraded,
		fs:      d.layout.On(number),
		layout:  d.layout,
		rules:   d.rules,
		memory:  d.memory,
		limits:  d.limits,
		pause:   attemptPause,
		log:     d.log,
		every:   progressEvery,
		limit:   d.kept,
		recheck: d.recheck,
		slots:   d.slots,
		done:    make(chan struct{}),
	}
	if c.fs == "" {
		return
	}
	own := d.volumeOf(number)
	c.volumes, c.own = own, len(own)
	for _, i := range d.layout.Seeds(number) {
		if v := d.volumes.at(i); v != nil {
			c.volumes = append(c.volumes[:len(c.volumes):len(c.volumes)], v)
		}
	}
	var before []*baselineCheck
	for _, v := range own {
		if old := v.baseline.Swap(c); old != nil {
			old.stop()
			before = append(before, old)
		}
	}
	c.begin(before, d.disks[own[0].guard.disk].device)
}

// begin takes the snapshots, if it is the turn of the check, and runs it. before are the checks
// that it replaces, which have been stopped.
func (c *baselineCheck) begin(before []*baselineCheck, device *blocktap.Device) {
	ctx, stop := context.WithCancel(context.Background())
	c.stop, c.between = stop, device.Between
	var a *attempt
	var err error
	waits := !c.slots.TryAcquire(1)
	if !waits {
		a, err = c.takeSnapshots(ctx)
	}
	go func() {
		for _, old := range before {
			<-old.done // one check at a time, so that its memory is free
		}
		again := func() (a *attempt, err error) {
			if err := c.slots.Acquire(ctx, 1); err != nil {
				return nil, err
			}
			device.Between(func() { a, err = c.takeSnapshots(ctx) })
			return a, err
		}
		if waits {
			a, err = again()
		}
		if err != nil && ctx.Err() == nil {
			c.failed(err)
			a = c.later(ctx, again)
		}
		c.run(ctx, a, again)
	}()
}

// yield makes baseline checks release their memory.
func (t *volumeTable) yield() {
	for _, v := range t.all() {
		if c := v.baseline.Load(); c != nil {
			c.yield()
		}
	}
}

// endBaselines stops all baseline checks and waits for them.
func (d *Disks) endBaselines() {
	for _, v := range d.volumes.all() {
		if c := v.baseline.Load(); c != nil {
			c.stop()
			<-c.done
		}
	}
}
