package interp

// A Foresight is the common part of the Forecasts of all file systems: their memory, and the signal
// that Prepare has ended. Make it with NewForesight.
type Foresight struct {
	Memory *MemoryBudget
	done   chan struct{} // closed when Prepare ends
}

// NewForesight returns a Foresight that may use a quarter of the memory within limits, and memory
// of the pool that no commit needs.
func NewForesight(limits Limits) Foresight {
	return Foresight{Memory: NewMemoryBudget(limits.Memory/4, limits.Pool), done: make(chan struct{})}
}

// Prepared ends Prepare. It is called once.
func (f *Foresight) Prepared() { close(f.done) }

// Wait returns when Prepare has ended.
func (f *Foresight) Wait() { <-f.done }

// Release returns the memory. The forecast must not be used any more.
func (f *Foresight) Release() { f.Memory.Release() }

// Forecasts holds at most one forecast of the next commit, and the one that came true with the
// commit under observation. The zero value holds none. It is used by one goroutine.
type Forecasts[F interface {
	comparable
	Stop()
	Wait()
	Release()
}] struct {
	next, came F
}

// Next returns the forecast of the next commit, the zero F if there is none.
func (f *Forecasts[F]) Next() F { return f.next }

// Came returns the forecast of the commit under observation, the zero F if it was not foreseen.
func (f *Forecasts[F]) Came() F { return f.came }

// Expect makes fc the forecast of the next commit, in the place of any other.
func (f *Forecasts[F]) Expect(fc F) {
	f.Drop()
	f.next = fc
}

// Drop ends the forecast of the next commit, if there is one, and returns its memory.
func (f *Forecasts[F]) Drop() {
	var none F
	if f.next == none {
		return
	}
	f.next.Stop()
	f.next.Wait()
	f.next.Release()
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
