package interp

import "context"

// A Foresight is the common part of the Forecasts of all file systems: their memory, a signal that
// Prepare has ended, and a signal that its result is not read any more. Make it with NewForesight.
type Foresight struct {
	Memory   *MemoryBudget
	prepared chan struct{} // closed when Prepare ends
	judged   chan struct{} // closed by Judged
	needed   context.Context
	cancel   context.CancelFunc // of needed
}

// NewForesight returns a Foresight that may use a quarter of the memory within limits, and memory
// of the pool that no commit needs.
func NewForesight(limits Limits) Foresight {
	f := Foresight{Memory: NewMemoryBudget(limits.Memory/4, limits.Pool),
		prepared: make(chan struct{}), judged: make(chan struct{})}
	f.needed, f.cancel = context.WithCancel(context.Background())
	return f
}

// Prepared ends Prepare. It is called once.
func (f *Foresight) Prepared() { close(f.prepared) }

// Wait returns when Prepare has ended.
func (f *Foresight) Wait() { <-f.prepared }

// Needed is the context of the judgment: see Forecast.
func (f *Foresight) Needed() context.Context { return f.needed }

// Judged says that the judgment has ended: see Forecast.
func (f *Foresight) Judged() { close(f.judged) }

// Release ends the judgment, waits for its end and returns the memory.
func (f *Foresight) Release() {
	f.cancel()
	<-f.judged
	f.Memory.Release()
}

// Forecasts holds at most one forecast of the next commit, and the one that came true with the
// commit under observation. The zero value holds none. It is used by one goroutine.
type Forecasts[F interface {
	comparable
	Stop()
	Discard() // frees the result of Prepare
	Release()
}] struct {
	next, came F
}

// Next returns the forecast of the next commit, the zero F if there is none.
func (f *Forecasts[F]) Next() F { return f.next }

// Came returns the forecast of the commit under observation, the zero F if it was not foreseen.
func (f *Forecasts[F]) Came() F { return f.came }

// Expect makes fc the forecast of the next commit. It replaces any other.
func (f *Forecasts[F]) Expect(fc F) {
	f.Drop()
	f.next = fc
}

// Drop ends the forecast of the next commit and its judgment, if there is one, and returns its
// memory. The actual commit may need it.
func (f *Forecasts[F]) Drop() {
	var none F
	if f.next == none {
		return
	}
	f.next.Stop()
	f.next.Release()
	f.next.Discard()
	f.next = none
}

// ComesTrue makes the forecast of the next commit that of the commit under observation. Its memory
// is in use until Settled.
func (f *Forecasts[F]) ComesTrue() {
	var none F
	f.came, f.next = f.next, none
}

// Settled returns the memory of the forecast that came true, if there is one.
func (f *Forecasts[F]) Settled() {
	var none F
	if f.came != none {
		f.came.Release()
		f.came = none
	}
}
