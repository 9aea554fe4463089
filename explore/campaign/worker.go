package campaign

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"
)

// A Runner runs units.
type Runner interface {
	// Run runs a unit, and returns what it found. An error says that the unit could not be run. Run
	// ends early if the context is done.
	Run(ctx context.Context, t Task) (Done, error)
}

// A Task is a unit that a Runner is to run.
type Task struct {
	Definition *Definition
	Unit       Unit
	Slot       int // from 0: no other task of this worker has it at this time
}

// A Done is what a Runner did with a unit.
type Done struct {
	Exit     int // status of the command: 0 or 1
	Findings []Found
	// Remove removes the folders of the findings; nil: they stay.
	Remove func() error
}

// An Event is something that a worker did.
type Event struct {
	Event    string  `json:"event"` // "tested", "failed", "split", "poisoned", "refused", "trouble"
	Campaign string  `json:"campaign,omitempty"`
	Unit     string  `json:"unit,omitempty"`
	Worker   string  `json:"worker"`
	Findings int     `json:"findings,omitempty"`
	Seconds  float64 `json:"seconds,omitempty"`
	Text     string  `json:"text,omitempty"`
}

// A Worker runs the units of a server's campaigns.
type Worker struct {
	Client *Client
	Runner Runner
	Name   string // of this process, different from those of others
	Slots  int    // units at a time
	// Campaign is the only campaign whose units it runs; "": those of all.
	Campaign string
	// Check returns an error for a campaign whose units this worker must not run, such as one of
	// another version.
	Check func(*Definition) error
	// UntilDone makes Run return when the queues are empty.
	UntilDone bool
	OnEvent   func(Event) // called from several goroutines; nil: nobody is told

	// failureWait is how long a unit that failed waits for its next attempt; 0: 2 s.
	failureWait time.Duration
	broken      failures
	stop        context.CancelCauseFunc
}

// idleWait is how long a worker waits for a unit, or for a campaign, before it looks again.
const idleWait = 2 * time.Second

// Run takes units and runs them until the context is done. It returns ErrBroken if no unit can be
// run here: several failed one after the other, or, with UntilDone, all campaigns were refused.
func (w *Worker) Run(ctx context.Context) error {
	ctx, w.stop = context.WithCancelCause(ctx)
	defer w.stop(nil)
	b := newBoard(w)
	var all sync.WaitGroup
	all.Go(func() { b.watch(ctx) })
	all.Go(func() { w.watchServer(ctx) })
	var slots sync.WaitGroup
	for i := range w.Slots {
		slots.Go(func() { w.slot(ctx, b, i) })
	}
	slots.Wait()
	cause := context.Cause(ctx)
	w.stop(nil)
	all.Wait()
	switch {
	case errors.Is(cause, context.Canceled):
		return nil
	case cause == nil: // the queues are empty
		return b.allRefused()
	}
	return cause
}

// tell reports an event.
func (w *Worker) tell(e Event) {
	if e.Worker = w.Name; w.OnEvent != nil {
		w.OnEvent(e)
	}
}

// watchServer reports that the server cannot be reached, and why, once for each reason.
func (w *Worker) watchServer(ctx context.Context) {
	told := ""
	for ctx.Err() == nil {
		text := ""
		if err := w.Client.Trouble(); err != nil {
			text = err.Error()
		}
		if text != told && text != "" {
			w.tell(Event{Event: "trouble", Text: text})
		}
		told = text
		pause(ctx, idleWait/4)
	}
}

// slot runs one unit after the other.
func (w *Worker) slot(ctx context.Context, b *board, slot int) {
	for turn := slot; ctx.Err() == nil; turn++ {
		j, running := b.next(turn)
		if j == nil {
			if w.UntilDone && b.done(ctx) {
				return
			}
			pause(ctx, idleWait/4)
			continue
		}
		l, err := j.q.fetch(w.fetchWait() / time.Duration(running))
		var lost uint64
		if err == nil && l == nil {
			lost, err = j.refill(ctx)
		}
		if err != nil && ctx.Err() == nil {
			w.tell(Event{Event: "trouble", Campaign: j.q.Definition.Name, Text: err.Error()})
			pause(ctx, idleWait)
			continue
		}
		if l == nil {
			if lost == 0 && w.UntilDone && b.done(ctx) {
				return
			}
			continue
		}
		w.lease(ctx, j, l, slot)
	}
}

// fetchWait returns how long a slot waits for a unit. With UntilDone it looks sooner whether there
// will be none.
func (w *Worker) fetchWait() time.Duration {
	if w.UntilDone {
		return idleWait / 8
	}
	return idleWait
}

// pause waits, or until the context is done.
func pause(ctx context.Context, d time.Duration) {
	select {
	case <-ctx.Done():
	case <-time.After(d):
	}
}

// lastWords is how long a worker that ends tries to tell the server what it has done.
const lastWords = 10 * time.Second

// lease runs a unit, and takes it out of the queue if it has a result then.
func (w *Worker) lease(ctx context.Context, j *job, l *lease, slot int) {
	l.keep()
	defer l.release()
	if ctx.Err() != nil || !j.isRunning() {
		_ = l.giveBack(0) // if the server does not hear it, the lease ends
		return
	}
	// What is done is told to the server even if the worker is asked to end.
	last, cancel := context.WithCancel(context.WithoutCancel(ctx))
	defer cancel()
	defer context.AfterFunc(ctx, func() { time.AfterFunc(lastWords, cancel) })()
	wait, err := w.unit(j.context, last, l, slot)
	if err == nil && wait == 0 {
		err = l.done(last)
	}
	if err == nil && wait == 0 {
		return
	}
	if err != nil && ctx.Err() == nil && j.isRunning() {
		w.tell(Event{Event: "trouble", Campaign: l.q.Definition.Name, Unit: l.unit.ID(),
			Text: err.Error()})
	}
	_ = l.giveBack(wait) // as above
}

// defaultFailureWait is Worker.failureWait.
const defaultFailureWait = 2 * time.Second

// unit makes a result for a unit, or returns how long the next attempt must wait. ctx ends the
// command that runs, and last the talk with the server.
func (w *Worker) unit(ctx, last context.Context, l *lease, slot int) (wait time.Duration,
	err error) {
	q := l.q
	r, err := q.result(last, l.unit)
	switch {
	case err != nil:
		return 0, err
	case r != nil && r.Outcome == Split:
		return 0, q.split(last, l.unit)
	case r != nil:
		return 0, nil
	}
	a, err := q.failed(last, l.unit)
	if err != nil {
		return 0, err
	}
	if l.deliveries > maxDeliveries && a.Last == "" {
		a.Last = fmt.Sprintf("%d workers that had it did not return", l.deliveries-1)
	}
	if a.Failures >= maxFailures || l.deliveries > maxDeliveries {
		return 0, w.isolate(last, q, l.unit, a)
	}
	began := time.Now()
	d, err := w.Runner.Run(ctx, Task{&q.Definition, l.unit, slot})
	if ctx.Err() != nil {
		return 0, ctx.Err()
	}
	if err == nil {
		err = w.record(last, q, l.unit, d, time.Since(began))
		if d.Remove != nil {
			err = errors.Join(err, d.Remove())
		}
		return 0, err
	}
	w.tell(Event{Event: "failed", Campaign: q.Definition.Name, Unit: l.unit.ID(), Text: err.Error()})
	if w.broken.failed(l.unit) {
		w.stop(fmt.Errorf("%w: %d units in a row could not be run; the last: %w", ErrBroken, maxBroken,
			err))
	}
	_, failErr := q.fail(last, l.unit, err.Error())
	return cmp.Or(w.failureWait, defaultFailureWait), failErr
}

// record makes what a runner found the result of a unit.
func (w *Worker) record(ctx context.Context, q *Queue, u Unit, d Done, took time.Duration) error {
	w.broken.worked()
	var counts []Count
	for _, f := range d.Findings {
		key, err := q.report(ctx, f, u, w.Name)
		if err != nil {
			return err
		}
		counts = append(counts, Count{key, f.Count})
	}
	r := &Result{Unit: u, Outcome: Tested, Exit: d.Exit, Worker: w.Name, Seconds: took.Seconds()}
	r.Findings, r.More = counted(counts)
	other, err := q.publish(ctx, r)
	if err != nil {
		return err
	}
	if other.Outcome == Split { // another worker gave it up in the meantime
		return q.split(ctx, u)
	}
	w.tell(Event{Event: "tested", Campaign: q.Definition.Name, Unit: u.ID(), Findings: len(r.Findings),
		Seconds: r.Seconds})
	return nil
}

// isolate splits a unit that could not be run. One with a single index is poisoned, which is a
// finding.
func (w *Worker) isolate(ctx context.Context, q *Queue, u Unit, a attempt) error {
	r := &Result{Unit: u, Outcome: Split, Worker: w.Name, Note: a.Last}
	if u.From == u.To {
		key, err := q.report(ctx, Found{Kind: "could not be run", Property: "unit " + u.ID(),
			Summary: a.Last, Count: 1}, u, w.Name)
		if err != nil {
			return err
		}
		r.Outcome, r.Findings = Poisoned, []Count{{key, 1}}
	}
	counts, err := q.publish(ctx, r)
	if err != nil {
		return err
	}
	w.tell(Event{Event: string(counts.Outcome), Campaign: q.Definition.Name, Unit: u.ID(),
		Text: a.Last})
	if counts.Outcome == Split {
		return q.split(ctx, u)
	}
	return nil
}

// ErrBroken says that a worker cannot run units.
var ErrBroken = errors.New("nothing can be run here")

// maxBroken is the number of units that may fail one after the other before a worker gives up: it
// is the worker that does not work.
const maxBroken = 3

// failures are the units that failed since one could be run.
type failures struct {
	mu    sync.Mutex
	units []Unit // none is a part of another
}

// failed notes a unit that failed, and reports whether there are too many.
func (f *failures) failed(u Unit) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	// A unit and its halves fail for the same reason.
	if !slices.ContainsFunc(f.units, u.overlaps) {
		f.units = append(f.units, u)
	}
	return len(f.units) >= maxBroken
}

// worked notes that a unit could be run.
func (f *failures) worked() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.units = nil
}
