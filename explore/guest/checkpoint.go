package guest

import (
	"context"
	"errors"
	"fmt"
	"time"

	"go.uber.org/zap"
)

// A Checkpoint is the saved state of a guest at one moment: memory, devices and disks. RAM disks
// are a part of the memory.
type Checkpoint struct {
	name   string
	layers []*layer // of each disk
}

// Save makes a checkpoint, and the guest continues. Save fails with agent.ErrBusy while requests
// are in progress. A load that should run at the checkpoint must therefore be a background process
// of the guest.
func (g *Guest) Save(ctx context.Context) (c *Checkpoint, err error) {
	if f := g.Failure(); f != nil {
		return nil, f
	}
	g.pinging.Lock()
	defer g.pinging.Unlock()
	steps := g.steps("saved")
	ctx, cancel := g.whileAlive(ctx)
	defer cancel()
	if err := g.client.Hold(ctx); err != nil {
		return nil, fmt.Errorf("checkpoint: %w", err)
	}
	steps.done("held")
	if err := g.domain.Suspend(); err != nil {
		return nil, errors.Join(err, g.client.Release(ctx))
	}
	steps.done("suspended")
	g.saved++
	c = &Checkpoint{name: fmt.Sprintf("checkpoint%d", g.saved)}
	for _, d := range g.cfg.Disks {
		l, e := d.save()
		if err = e; err != nil {
			break
		}
		c.layers = append(c.layers, l)
	}
	if err == nil {
		err = g.domain.SaveState(ctx, c.name)
	}
	steps.done("saved")
	err = errors.Join(err, g.domain.Resume())
	steps.done("resumed")
	err = errors.Join(err, g.client.Release(ctx))
	steps.done("released")
	steps.log()
	if err != nil {
		return nil, errors.Join(fmt.Errorf("checkpoint: %w", err), g.dropLayers(c))
	}
	return c, nil
}

// Restore restores the guest to one of its checkpoints, from where it continues. Requests in
// progress fail with agent.ErrCut. A guest that has panicked or hangs works again; for a guest that
// is Gone, Restore returns its Failure.
func (g *Guest) Restore(ctx context.Context, c *Checkpoint) error {
	g.mu.Lock()
	if g.failure != nil && g.failure.Kind == Gone {
		defer g.mu.Unlock()
		return g.failure
	}
	g.epoch++
	g.mu.Unlock()
	steps := g.steps("restored")
	if err := g.domain.Suspend(); err != nil {
		return err
	}
	steps.done("suspended")
	// From here to Release no ping is in progress.
	if err := g.client.Cut(); err != nil {
		return fmt.Errorf("checkpoint: %w", err)
	}
	g.pinging.Lock()
	defer g.pinging.Unlock()
	steps.done("cut")
	for i, d := range g.cfg.Disks {
		if err := d.restore(c.layers[i]); err != nil {
			return err
		}
	}
	if g.cfg.Guard != nil {
		if err := g.cfg.Guard.Switched(); err != nil {
			return fmt.Errorf("checkpoint: the guard of the disks: %w", err)
		}
	}
	steps.done("disks")
	if err := g.domain.LoadState(ctx, c.name); err != nil {
		return err
	}
	steps.done("loaded")
	g.tail.clear()
	g.mu.Lock()
	if g.failure != nil {
		g.failure = nil
		g.life, g.failed = context.WithCancelCause(context.Background())
	}
	g.mu.Unlock()
	if err := g.domain.Resume(); err != nil {
		return err
	}
	steps.done("resumed")
	ctx, cancel := g.whileAlive(ctx)
	defer cancel()
	err := g.client.Release(ctx)
	steps.done("released")
	steps.log()
	return err
}

// Drop deletes a checkpoint.
func (g *Guest) Drop(ctx context.Context, c *Checkpoint) error {
	return errors.Join(g.domain.DropState(ctx, c.name), g.dropLayers(c))
}

// dropLayers ends the checkpoint's use of the disks' layers.
func (g *Guest) dropLayers(c *Checkpoint) error {
	var err error
	for i, l := range c.layers {
		err = errors.Join(err, g.cfg.Disks[i].drop(l))
	}
	return err
}

// steps measures how long each step of a checkpoint takes, for the log.
type steps struct {
	logger *zap.Logger
	what   string
	last   time.Time // end of the last step
	fields []zap.Field
}

// steps begins to measure. what is the past participle of the log line, such as "saved".
func (g *Guest) steps(what string) *steps {
	return &steps{logger: g.logger, what: what, last: time.Now()}
}

// done ends a step.
func (s *steps) done(name string) {
	now := time.Now()
	s.fields = append(s.fields, zap.Duration(name, now.Sub(s.last)))
	s.last = now
}

// log logs the durations.
func (s *steps) log() { s.logger.Debug("checkpoint "+s.what, s.fields...) }
