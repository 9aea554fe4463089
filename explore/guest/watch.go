package guest

import (
	"context"
	"errors"
	"fmt"
	"time"

	"fsward/explore/agent"
)

const (
	pingEvery  = 100 * time.Millisecond // time between pings
	checkEvery = 20 * time.Millisecond  // time between checks for an answer that is overdue
	// starvedFactor bounds the silence by the clock, as a multiple of Config.Silence. A guest that is
	// silent for longer hangs, even if it had no processor of the host for most of that time.
	starvedFactor = 20
	// panicGrace is how long the watcher waits for the lines that follow the first line of a panic,
	// such as the stack.
	panicGrace = 200 * time.Millisecond
)

// watch detects failures of the guest, until ctx ends or the guest is gone.
func (g *Guest) watch(ctx context.Context) {
	tick := time.NewTicker(pingEvery)
	defer tick.Stop()
	var answers uint64 // of the client at the last tick
	for {
		epoch := g.currentEpoch()
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
			if now := g.client.Answers(); now != answers {
				answers = now // other requests show that the agent is alive
				continue
			}
			g.ping(ctx, epoch)
			answers = g.client.Answers()
		}
	}
}

// ping pings the agent once, and records a failure if the agent stays silent for too long. ping
// waits for the end of a checkpoint. It does nothing if the guest has failed, or was restored since
// epoch.
func (g *Guest) ping(ctx context.Context, epoch uint64) {
	g.pinging.Lock()
	defer g.pinging.Unlock()
	if g.currentEpoch() != epoch || g.Failure() != nil {
		return
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	answered := make(chan error, 1)
	begin := time.Now()
	hypervisor, processor, err := g.domain.Starved()
	if err != nil {
		return // the guest is ending; watch records that
	}
	go func() { answered <- g.client.Ping(ctx) }()
	tick := time.NewTicker(checkEvery)
	defer tick.Stop()
	for {
		select {
		case err := <-answered:
			interrupted := errors.Is(err, agent.ErrCut) || errors.Is(err, agent.ErrBusy)
			if err != nil && !interrupted && ctx.Err() == nil {
				g.fail(epoch, &Failure{Kind: Gone, Text: err.Error()})
			}
			return
		case <-g.domain.Gone(): // watch records that
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
		// The hypervisor and the processor starve mostly at the same time, so that only the longer time
		// counts.
		silent := clock - max(h-hypervisor, p-processor)
		if limit := time.Duration(g.silence.Load()); silent < limit && clock < starvedFactor*limit {
			continue
		}
		if len(answered) > 0 {
			continue // the agent has answered, and this goroutine was late
		}
		text := fmt.Sprintf("no answer for %v, and for %v by the clock",
			silent.Round(time.Millisecond), clock.Round(time.Millisecond))
		g.fail(epoch, &Failure{Kind: Hung, Silent: silent, Text: text})
		return
	}
}

// fail records a failure, unless the guest has failed already or was restored since epoch.
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

// currentEpoch returns the number of times that the guest was restored.
func (g *Guest) currentEpoch() uint64 {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.epoch
}

// Failure returns how the guest has failed; nil while it works.
func (g *Guest) Failure() *Failure {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.failure
}

// Failed returns a channel that is closed when the guest fails. After Restore of a failed guest it
// returns another channel.
func (g *Guest) Failed() <-chan struct{} { return g.alive().Done() }

// alive returns a context that ends when the guest fails.
func (g *Guest) alive() context.Context {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.life
}

// whileAlive returns a context that ends when ctx ends or the guest fails. The Failure is then its
// cause.
func (g *Guest) whileAlive(ctx context.Context) (context.Context, context.CancelFunc) {
	life := g.alive()
	ctx, cancel := context.WithCancelCause(ctx)
	stop := context.AfterFunc(life, func() { cancel(context.Cause(life)) })
	return ctx, func() { stop(); cancel(nil) }
}

// SetSilence changes Config.Silence, for a load that keeps the agent from answering, or for a slow
// host.
func (g *Guest) SetSilence(limit time.Duration) { g.silence.Store(int64(limit)) }
