package guard

import (
	"context"

	"go.uber.org/zap"
)

// beginBaseline begins a check of the present state of the file system on a disk. It is called
// while no write is being performed. A check that still reads an older state of the same disks is
// stopped.
func (d *Disks) beginBaseline(disk int, skipLog bool) {
	c := &baselineCheck{
		skipLog: skipLog,
		fs:      d.follower.On(disk),
		rules:   d.rules.config,
		memory:  d.memory,
		limits:  d.limits,
		pause:   attemptPause,
		log:     d.log,
		every:   progressEvery,
		limit:   d.kept,
		recheck: d.recheck,
		done:    make(chan struct{}),
	}
	if c.fs == "" {
		return
	}
	own := d.volumeOf(disk)
	for _, g := range own {
		c.guards = append(c.guards, g.guard)
	}
	c.own = len(own)
	for i, g := range d.disks {
		if d.follower.Seed(disk, i) {
			c.guards = append(c.guards, g.guard)
		}
	}
	var before []*baselineCheck
	for _, g := range own {
		if old := g.baseline.Swap(c); old != nil {
			old.stop()
			before = append(before, old)
		}
	}
	ctx, stop := context.WithCancel(context.Background())
	c.stop = stop
	unverified := c.guards[0].volume.Load() != nil
	a, err := c.takeSnapshots(ctx, d.follower.Needs)
	if err != nil {
		d.log.Error("cannot check the baseline", zap.String("disk", c.guards[0].name), zap.Error(err))
	}
	go func() {
		for _, old := range before {
			<-old.done // one check at a time, so that its memory is free
		}
		again := func() (a *attempt, err error) {
			own[0].device.Between(func() { a, err = c.takeSnapshots(ctx, d.follower.Needs) })
			return a, err
		}
		if a == nil && unverified {
			a = c.later(ctx, again)
		}
		c.run(ctx, a, again)
	}()
}

// volumeOf returns the disks of the file system on a disk.
func (d *Disks) volumeOf(disk int) (own []*guardedDisk) {
	for i, g := range d.disks {
		if i == disk || d.follower.Together(i, disk) {
			own = append(own, g)
		}
	}
	return own
}

// yield makes baseline checks release their memory.
func (d *Disks) yield() {
	for _, g := range d.disks {
		if c := g.baseline.Load(); c != nil {
			c.yield()
		}
	}
}

// endBaselines stops all baseline checks and waits for them.
func (d *Disks) endBaselines() {
	for _, g := range d.disks {
		if c := g.baseline.Load(); c != nil {
			c.stop()
			<-c.done
		}
	}
}
