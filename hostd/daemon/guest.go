package daemon

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"go.uber.org/zap"
	"golang.org/x/sync/errgroup"

	"fsward/change"
	"fsward/hostd/guard"
)

// A Guest is a guest of Guests: its disks, and how they are served.
type Guest struct {
	Name string
	Config
	Transport string // TransportNBD or TransportFUSE
	Listen    string // address of the disks: see Address
	Calls     string // path of the socket for the guest's calls; "" for none
	// Find finds the guest that a policy suspends; nil if no policy does.
	Find func(context.Context) (guard.Suspender, error)
}

// retryPause is the time after which a guest that could not be served is tried again.
const retryPause = 10 * time.Second

// errNotServed is the error of a request about a guest that is not served at the moment.
var errNotServed = errors.New("the guest is not served at the moment")

// served is a guest with its Daemon.
type served struct {
	Guest
	log     *zap.Logger
	changes chan diskChange

	mu    sync.RWMutex // also held while somebody uses d
	d     *Daemon      // nil while the guest is not served
	err   error        // why it is not served
	worst change.Outcome
}

// A diskChange changes the disks of a guest while the guest is not served.
type diskChange struct {
	apply func(*Config) error
	done  chan error // receives the result
}

// run serves the guest until ctx ends.
func (g *served) run(ctx context.Context) {
	for ctx.Err() == nil {
		d, err := g.open(ctx)
		if err != nil {
			g.failed(err)
			g.pause(ctx)
			continue
		}
		for d != nil {
			d = g.serve(ctx, d)
		}
	}
}

// open opens the disks of the guest.
func (g *served) open(ctx context.Context) (*Daemon, error) {
	cfg := g.Config
	if g.Find != nil {
		var err error
		if cfg.Guest, err = g.Find(ctx); err != nil {
			return nil, err
		}
	}
	return Open(cfg, g.log)
}

// pause waits until the guest is to be tried again.
func (g *served) pause(ctx context.Context) {
	select {
	case <-ctx.Done():
	case <-time.After(retryPause):
	case c := <-g.changes:
		cfg := g.config()
		err := c.apply(&cfg)
		if err == nil {
			g.setConfig(cfg)
		}
		c.done <- err
	}
}

// serve serves a Daemon and closes it. It returns the Daemon that continues, or nil if there is
// none: ctx has ended, or the guest has to be tried again.
func (g *served) serve(ctx context.Context, d *Daemon) (next *Daemon) {
	g.set(d, nil)
	serving, stop := context.WithCancel(ctx)
	defer stop()
	group, serving := errgroup.WithContext(serving)
	group.Go(func() error { return d.Serve(serving, g.Transport, g.Listen) })
	if g.Calls != "" {
		group.Go(func() error { return d.ServeCalls(serving, g.Calls) })
	}
	var asked *diskChange
	select {
	case <-serving.Done():
	case c := <-g.changes:
		asked = &c
	}
	stop()
	err := errors.Join(group.Wait(), d.EndRecording())
	g.mu.Lock()
	g.d, g.worst = nil, worse(g.worst, d.Outcome())
	g.mu.Unlock()
	err = errors.Join(err, d.Close())
	switch {
	case asked != nil:
		next, err = g.changed(ctx, *asked)
	case err == nil && ctx.Err() == nil:
		err = errors.New("its server has ended")
	}
	if err != nil {
		g.failed(err)
	}
	return next
}

// changed makes a change of the disks, and opens them. If that fails, it opens the disks as they
// were before. The error is that of the latter.
func (g *served) changed(ctx context.Context, c diskChange) (*Daemon, error) {
	before, cfg := g.config(), g.config()
	err := c.apply(&cfg)
	var d *Daemon
	if err == nil {
		g.setConfig(cfg)
		if d, err = g.open(ctx); err == nil {
			g.log.Info("the disks were changed", zap.Strings("disks", d.Names()))
			c.done <- nil
			return d, nil
		}
		g.setConfig(before)
	}
	c.done <- err
	return g.open(ctx)
}

// change has the disks changed by run, and waits for it.
func (g *served) change(ctx context.Context, apply func(*Config) error) error {
	if g.config().Record != "" {
		return errors.New("the disks are recorded, and a recording cannot follow such a change")
	}
	c := diskChange{apply: apply, done: make(chan error, 1)}
	select {
	case g.changes <- c:
		return <-c.done
	case <-ctx.Done():
		return ctx.Err()
	}
}

// config returns a copy of the configuration.
func (g *served) config() Config {
	g.mu.RLock()
	defer g.mu.RUnlock()
	cfg := g.Config
	cfg.Disks = slices.Clone(cfg.Disks)
	return cfg
}

func (g *served) setConfig(cfg Config) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.Config = cfg
}

// memory returns the memory that the guest's guard may use, in bytes.
func (g *served) memory() uint64 {
	cfg := g.config()
	return cfg.Memory.Total(len(cfg.Disks))
}

// failed notes and logs why the guest is not served. Nobody waits for it any longer.
func (g *served) failed(err error) {
	defer g.ready()
	g.log.Error("the guest is not served, and will be tried again", zap.Error(err),
		zap.Duration("in", retryPause))
	g.set(nil, err)
}

func (g *served) set(d *Daemon, err error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.d, g.err = d, err
}

// with calls f with the guest's Daemon, which is not closed meanwhile. Errors name the guest.
func (g *served) with(f func(*Daemon) error) (err error) {
	g.mu.RLock()
	defer g.mu.RUnlock()
	switch {
	case g.d == nil && g.err != nil:
		err = fmt.Errorf("%w: %w", errNotServed, g.err)
	case g.d == nil:
		err = errNotServed
	default:
		err = f(g.d)
	}
	if err != nil {
		return fmt.Errorf("guest %s: %w", g.Name, err)
	}
	return nil
}

// status returns the state of the guest's volumes, or why it is not served.
func (g *served) status() (out []guard.VolumeStatus) {
	err := g.with(func(d *Daemon) error {
		out = d.Status()
		return nil
	})
	if err != nil {
		out = []guard.VolumeStatus{{State: err.Error()}}
	}
	for i := range out {
		out[i].Guest = g.Name
	}
	return out
}

// outcome returns the worst verdict of the guest so far.
func (g *served) outcome() change.Outcome {
	g.mu.RLock()
	defer g.mu.RUnlock()
	if g.err != nil {
		return worse(g.worst, change.Undecided)
	}
	return g.worst
}
