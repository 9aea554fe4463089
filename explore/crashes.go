package explore

import (
	"fmt"
	"slices"

	"fsward/explore/crash"
)

// A crashCase is a crash state with the Crash that the checker gets for it.
type crashCase struct {
	*crash.State
	second *crash.State // a crash state of the recovery; nil: the recovery was not interrupted
	window int          // number of the window in the last step
	Crash
}

// sum returns a signature of the contents of a crash state.
func (c crashCase) sum() string { return c.Contents().String() }

// crashes visits the crash states in the windows that the last Mutate of an execution requested.
func (d *diskSet) crashes(r *execution, options crash.Options,
	visit func(c crashCase) error) (crash.Stats, error) {
	options.ByMark = true
	given := visit
	visit = func(c crashCase) error {
		at := c.At
		c.log = func() []Tick {
			return slices.DeleteFunc(ticks(r), func(t Tick) bool { return t.Record > at })
		}
		return given(c)
	}
	w := windowWalk{
		states:  crash.New(crash.Join(d.crashBases()...), options),
		windows: r.windows,
		visit:   visit,
	}
	events := crash.FromWriteSet(d.each(r.records), r.blocks, d.numbers()...)
	for ev, err := range withMarks(events, r.windows) {
		if err == nil {
			err = w.add(ev)
		}
		if err != nil {
			return w.states.Stats(), err
		}
	}
	return w.states.Stats(), nil
}

// A windowWalk follows the events of an execution, and visits the crash states inside its windows.
type windowWalk struct {
	states  *crash.Enumerator
	windows []window
	visit   func(c crashCase) error
	begun   bool // the last step has begun; windows of earlier steps are not visited
	open    bool // a window has a start and no end yet
	at      crashCase
}

func (w *windowWalk) visitState(s *crash.State) error {
	w.at.State = s
	return w.visit(w.at)
}

// add adds an event, and visits the crash states at it.
func (w *windowWalk) add(ev crash.Event) error {
	kind, number, ok := w.mark(ev)
	if kind == markStep {
		w.begun = true
	}
	switch ok = ok && w.begun; {
	case w.open && ok && kind == markNow:
		return fmt.Errorf("a checker requested a crash after record %d, inside of a window", ev.At)
	case w.open:
		if err := w.states.Add(ev, w.visitState); err != nil || !ok || kind != markEnd {
			return err
		}
		w.at.Epoch, w.open = End, false
		return w.states.Now(w.visitState)
	case ok:
		return w.start(ev, kind, number)
	}
	return w.states.Add(ev, nil)
}

// start starts a window, and visits the crash states at its start.
func (w *windowWalk) start(ev crash.Event, kind string, number int) error {
	requested := w.windows[number]
	w.at = crashCase{
		window: number,
		Crash:  Crash{Epoch: Begin, Before: requested.before, After: requested.after},
	}
	if kind == markNow {
		w.at.Epoch = End
	}
	err := w.states.Add(ev, nil)
	if err == nil {
		err = w.states.Now(w.visitState)
	}
	w.open, w.at.Epoch = kind == markStart, InBetween
	return err
}

// mark returns the kind of a mark, and the number of its window. ok is false if the event is not
// the mark of a window of the last step.
func (w *windowWalk) mark(ev crash.Event) (kind string, number int, ok bool) {
	if ev.Kind != crash.Marked {
		return "", 0, false
	}
	kind, number, ok = parseWindowMark(ev.Mark)
	return kind, number, ok && kind != markStep && number < len(w.windows)
}
