package guest

import (
	"context"
	"errors"
	"fmt"
	"time"

	"fsward/explore/agent"
)

const (
	beatEvery = 100 * time.Millisecond // between an answer and the next ping
	lookEvery = 20 * time.Millisecond  // how often it is looked at whether a ping has been unanswered for too long
	// patience is how many times its limit a guest may be silent by the clock, however starved it is.
	patience = 20
	// panicGrace is how long what a kernel prints after the first line of a panic is waited for: the stack.
	panicGrace = 200 * time.Millisecond
)

// watch notices the guest's failures, until it is closed.
func (g *Guest) watch(ctx context.Context) {
	tick := time.NewTicker(beatEvery)
	defer tick.Stop()
	for {
		epoch := g.now()
		select {
		case <-ctx.Done():
			return
		case <-g.domain.Gone():
			end, cancel := context.WithTimeout(ctx, time.Second)
			g.fail(epoch, &Failure{Kind: Gone, Text: g.domain.End(end)})
			cancel()
			return
		case line := <-g.tail.panics:
			time.Sleep(panicGrace)
			g.fail(epoch, &Failure{Kind: Panicked, Text: line})
		case <-tick.C:
			g.beat(ctx, epoch)
		}
	}
}

// beat pings the agent once. It does nothing while a checkpoint is made, and when the guest has failed already.
func (g *Guest) beat(ctx context.Context, epoch uint64) {
	g.beating.Lock()
	defer g.beating.Unlock()
	if g.now() != epoch || g.Failure() != nil {
		return
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	answered := make(chan error, 1)
	begin := time.Now()
	hypervisor, processor, err := g.domain.Starved()
	if err != nil {
		return // it ends
	}
	go func() { answered <- g.client.Ping(ctx) }()
	tick := time.NewTicker(lookEvery)
	defer tick.Stop()
	for {
		select {
		case err := <-answered:
			if err != nil && !errors.Is(err, agent.ErrCut) && !errors.Is(err, agent.ErrBusy) && ctx.Err() == nil {
				g.fail(epoch, &Failure{Kind: Gone, Text: err.Error()})
			}
			return
		case <-g.domain.Gone(): // told by watch
			return
		case line := <-g.tail.panics:
			time.Sleep(panicGrace)
			g.fail(epoch, &Failure{Kind: Panicked, Text: line})
			return
		case <-tick.C:
		}
		clock := time.Since(begin)
		h, p, err := g.domain.Starved()
		if err != nil {
			continue
		}
		// Mostly at the same time, so that the longer one counts.
		silent := clock - max(h-hypervisor, p-processor)
		if limit := time.Duration(g.silence.Load()); silent < limit && clock < patience*limit {
			continue
		}
		if len(answered) > 0 {
			continue // it was we who were late
		}
		g.fail(epoch, &Failure{Kind: Hung, Silent: silent, Text: fmt.Sprintf("no answer for %v, and for %v by the clock",
			silent.Round(time.Millisecond), clock.Round(time.Millisecond))})
		return
	}
}

// fail notes a failure, unless the guest was put back meanwhile. The first counts, and that a guest is gone.
func (g *Guest) fail(epoch uint64, f *Failure) {
	f.Console = g.tail.last()
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.epoch != epoch || g.failure != nil {
		return
	}
	g.failure = f
	g.failed(f)
}

// now is the number of times that the guest was put back.
func (g *Guest) now() uint64 {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.epoch
}

// Failure returns why the guest does nothing any more; nil while it works.
func (g *Guest) Failure() *Failure {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.failure
}

// Failed is closed when the guest fails. After Restore there is another one.
func (g *Guest) Failed() <-chan struct{} { return g.alive().Done() }

func (g *Guest) alive() context.Context {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.life
}

// while returns a context that ends with ctx or with the guest, which then is its cause.
func (g *Guest) while(ctx context.Context) (context.Context, context.CancelFunc) {
	life := g.alive()
	ctx, cancel := context.WithCancelCause(ctx)
	stop := context.AfterFunc(life, func() { cancel(context.Cause(life)) })
	return ctx, func() { stop(); cancel(nil) }
}

// SetSilence changes Config.Silence, for what is known to keep the guest from answering, or for a host that is slow.
func (g *Guest) SetSilence(limit time.Duration) { g.silence.Store(int64(limit)) }
