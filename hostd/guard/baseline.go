package guard

import (
	"context"

	"go.uber.org/zap"
)

// beginPass begins to judge the state that the file system on a disk is in now. It is called while no write is
// under way. A pass that runs over an older state of its disks is ended.
func (d *Disks) beginBaseline(disk int, skipLog bool) {
	p := &baselineCheck{skipLog: skipLog, fs: d.follower.On(disk), rules: d.rules.config, memory: d.memory, limits: d.limits, pause: attemptPause, log: d.log, every: progressEvery, limit: d.kept, done: make(chan struct{})}
	if p.fs == "" {
		return
	}
	var own []*guardedDisk
	for i, g := range d.disks {
		if i == disk || d.follower.Together(i, disk) {
			own, p.guards = append(own, g), append(p.guards, g.guard)
		}
	}
	var before []*baselineCheck
	for _, g := range own {
		if old := g.baseline.Swap(p); old != nil {
			old.stop()
			before = append(before, old)
		}
	}
	ctx, stop := context.WithCancel(context.Background())
	p.stop = stop
	a, err := p.freeze(ctx, d.follower.Needs)
	if err != nil {
		d.log.Error("the baseline cannot be checked", zap.String("disk", p.guards[0].name), zap.Error(err))
		close(p.done)
		return
	}
	go func() {
		for _, old := range before {
			<-old.done // one at a time, and with it its memory
		}
		p.run(ctx, a, func() (again *attempt, err error) {
			own[0].device.Between(func() { again, err = p.freeze(ctx, d.follower.Needs) })
			return again, err
		})
	}()
}

// yield makes passes give back their memory.
func (d *Disks) yield() {
	for _, g := range d.disks {
		if p := g.baseline.Load(); p != nil {
			p.yield()
		}
	}
}

// endPasses ends them and waits.
func (d *Disks) endBaselines() {
	for _, g := range d.disks {
		if p := g.baseline.Load(); p != nil {
			p.stop()
			<-p.done
		}
	}
}
