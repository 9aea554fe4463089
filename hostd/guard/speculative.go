package guard

import (
	"context"
	"time"

	"fsward/change"
	"fsward/interp"
	"fsward/invariants"
)

// A speculativeCheck checks the commit that the interpreter expects, while the guest waits for the
// flush before it. If that commit comes, its verdict is there already, or soon. If another one
// comes, that one is checked as if there had been no speculative check.
type speculativeCheck struct {
	forecast interp.Forecast
	began    time.Time
	rules    *ruleSet // in force when the check began
	stop     context.CancelFunc
	prepared chan struct{} // closed when txn is set, or will not be
	done     chan struct{} // closed when verdict is set

	txn     *change.Txn // valid once prepared is closed; nil if there is no transaction to check
	verdict invariants.Verdict
}

// Flushing begins a speculative check if the interpreter expects a commit.
func (g *Guard) Flushing() {
	f, ok := g.interp.(interp.Forecaster)
	if !ok {
		return
	}
	forecast := f.Forecast()
	if forecast == nil {
		return
	}
	g.dropSpeculative()
	ctx, stop := context.WithCancel(forecast.Needed())
	c := &speculativeCheck{
		forecast: forecast,
		began:    time.Now(),
		rules:    g.rules.set.Load(),
		stop:     stop,
		prepared: make(chan struct{}),
		done:     make(chan struct{}),
	}
	g.shared().speculative = c
	g.judging.setVolume(g.volumes.guarded())
	go func() {
		defer close(c.done)
		defer forecast.Judged()
		p, ok := forecast.Prepare()
		c.txn = p.Txn
		close(c.prepared)
		if ok {
			c.verdict = g.rules.Check(ctx, p.Txn, p.View)
			p.Txn.Work.End()
		}
	}()
}

// dropSpeculative stops the speculative check and waits until it has ended.
func (g *Guard) dropSpeculative() {
	if c := g.shared().speculative; c != nil {
		c.forecast.Stop()
		c.end()
		g.shared().speculative = nil
	}
}

// end stops the check by the rules and waits until it has ended. It does not stop the View.
func (c *speculativeCheck) end() {
	c.stop()
	<-c.done
}

// matchingCheck waits for the verdict of the speculative check and returns the check if it is of
// this transaction and the same rules are still in force; otherwise nil. The rules are idle
// afterwards.
func (g *Guard) matchingCheck(ctx context.Context, txn *change.Txn) *speculativeCheck {
	c := g.shared().speculative
	if c == nil {
		return nil
	}
	if <-c.prepared; txn == nil || c.txn != txn {
		g.dropSpeculative()
		return nil
	}
	// The commit has come: its View is still read, by other rules and to explain violations.
	g.shared().speculative = nil
	defer c.end()
	if c.rules != g.rules.set.Load() {
		return nil
	}
	select {
	case <-c.done:
		return c
	case <-ctx.Done():
		return nil
	}
}
