package guest

import (
	"context"
	"errors"
	"fmt"
	"time"

	"go.uber.org/zap"
)

// A Checkpoint is all of a guest at one moment: memory, devices, disks. RAM disks are in its memory.
type Checkpoint struct {
	name   string
	layers []*layer
}

// Save makes a checkpoint; the guest goes on. While other requests are under way it fails with agent.ErrBusy: what a guest is to
// do at that moment is started before, in the background.
func (g *Guest) Save(ctx context.Context) (c *Checkpoint, err error) {
	if f := g.Failure(); f != nil {
		return nil, f
	}
	g.beating.Lock()
	defer g.beating.Unlock()
	steps := g.steps("saved")
	ctx, cancel := g.while(ctx)
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

// Restore puts the guest back to a checkpoint of it, from where it goes on. Requests that are under way fail with agent.ErrCut.
// A guest that has failed works again, unless it is gone.
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
	// After this no ping is under way, nor begun before Release.
	if err := g.client.Cut(); err != nil {
		return fmt.Errorf("checkpoint: %w", err)
	}
	g.beating.Lock()
	defer g.beating.Unlock()
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
	ctx, cancel := g.while(ctx)
	defer cancel()
	err := g.client.Release(ctx)
	steps.done("released")
	steps.log()
	return err
}

// Drop gives up a checkpoint.
func (g *Guest) Drop(ctx context.Context, c *Checkpoint) error {
	return errors.Join(g.domain.DropState(ctx, c.name), g.dropLayers(c))
}

func (g *Guest) dropLayers(c *Checkpoint) error {
	var err error
	for i, l := range c.layers {
		err = errors.Join(err, g.cfg.Disks[i].drop(l))
	}
	return err
}

// steps is how long each step of a checkpoint took, for the log.
type steps struct {
	logger *zap.Logger
	what   string
	last   time.Time
	fields []zap.Field
}

func (g *Guest) steps(what string) *steps {
	return &steps{logger: g.logger, what: what, last: time.Now()}
}

func (s *steps) done(name string) {
	now := time.Now()
	s.fields = append(s.fields, zap.Duration(name, now.Sub(s.last)))
	s.last = now
}

func (s *steps) log() { s.logger.Debug("checkpoint "+s.what, s.fields...) }
