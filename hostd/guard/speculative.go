package guard

import (
	"context"
	"time"

	"fsward/change"
	"fsward/interp"
	"fsward/invariants"
)

// ahead is a commit that is judged while the guest waits for the flush before it. If what comes is that commit, its
// verdict is there already, or soon; else it is judged as if there had been none.
type speculativeCheck struct {
	forecast interp.Forecast
	began    time.Time
	rules    *ruleSet // in force then
	stop     context.CancelFunc
	prepared chan struct{} // closed when txn is there, or will not come
	done     chan struct{} // closed when verdict is

	txn     *change.Txn // valid once prepared is closed; nil: nothing was found that could be judged
	verdict invariants.Verdict
}

// Flushing lets the interpreter expect a commit, and begins to judge it. The disks of one guest share the rules, and
// with several nothing is judged ahead.
func (g *Guard) Flushing() {
	f, ok := g.interp.(interp.Forecaster)
	if !ok || len(g.peers) > 1 {
		return
	}
	forecast := f.Forecast()
	if forecast == nil {
		return
	}
	g.dropSpeculative()
	ctx, stop := context.WithCancel(context.Background())
	a := &speculativeCheck{forecast: forecast, began: time.Now(), rules: g.rules.set.Load(), stop: stop,
		prepared: make(chan struct{}), done: make(chan struct{})}
	g.speculative = a
	go func() {
		defer close(a.done)
		p, ok := forecast.Prepare()
		a.txn = p.Txn
		close(a.prepared)
		if ok {
			a.verdict = g.rules.Check(ctx, p.Txn, p.View)
		}
	}()
}

// forget ends what is judged ahead, and waits until nothing of it runs any more.
func (g *Guard) dropSpeculative() {
	if a := g.speculative; a != nil {
		a.forecast.Stop()
		a.end()
		g.speculative = nil
	}
}

// end ends the judging, and waits until it has. The View is not stopped.
func (a *speculativeCheck) end() {
	a.stop()
	<-a.done
}

// foreseen returns what was judged ahead if it is this transaction, by the rules that are in force, once its verdict
// is there; else nil. The rules are free to judge afterwards.
func (g *Guard) matchingCheck(ctx context.Context, txn *change.Txn) *speculativeCheck {
	a := g.speculative
	if a == nil {
		return nil
	}
	if <-a.prepared; txn == nil || a.txn != txn {
		g.dropSpeculative()
		return nil
	}
	g.speculative = nil // it has come: its View is the commit's, which is read by other rules and to explain violations
	defer a.end()
	if a.rules != g.rules.set.Load() {
		return nil
	}
	select {
	case <-a.done:
		return a
	case <-ctx.Done():
		return nil
	}
}
