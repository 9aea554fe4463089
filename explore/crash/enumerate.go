package crash

import (
	"errors"
	"fmt"
	"iter"
)

// An Enumerator forms the states of a log, event by event. It is for one goroutine.
type Enumerator struct {
	options  Options
	layer    *layer
	flight   []*unit   // in the order of issue
	dirtied  bool      // a block was dirtied
	byPage   pageIndex // nil: it was not needed since a unit left the flight
	bytes    uint64    // memory of the layer's pages and of the units in flight
	seq      uint64    // of the last unit
	mark     string    // the last mark
	at       uint64    // position of the last event
	complete bool      // the last point formed all its states, and no mark was set since
	seen     map[seenKey]struct{}
	cache    *pageCache
	stats    Stats
	// formOnly, if set, is called at each point in place of forming its states.
	formOnly func() error
}

type seenKey struct {
	sig  Signature
	mark string
}

// New returns an Enumerator for a log over base. All of base is durable.
func New(base Base, options Options) *Enumerator {
	if options.Limit <= 0 {
		options.Limit = DefaultLimit
	}
	if options.MemoryBytes == 0 {
		options.MemoryBytes = DefaultMemory
	}
	return &Enumerator{options: options, layer: newLayer(base), seen: make(map[seenKey]struct{})}
}

// Each visits the states of a whole log. It returns the first error, of the log or of visit.
func Each(base Base, events Events, options Options, visit func(*State) error) (Stats, error) {
	e := New(base, options)
	for ev, err := range events {
		if err == nil {
			err = e.Add(ev, visit)
		}
		if err != nil {
			return e.stats, err
		}
	}
	return e.stats, e.Now(visit)
}

// Within yields the states that can arise after the event at position from and until the event at
// position to has happened. If from equals to, it yields the states of that moment.
func Within(
	base Base, events Events, options Options, from, to uint64,
) iter.Seq2[*State, error] {
	return func(yield func(*State, error) bool) {
		stop := errors.New("the consumer stopped")
		visit := func(s *State) error {
			if !yield(s, nil) {
				return stop
			}
			return nil
		}
		e := New(base, options)
		run := func() error {
			for ev, err := range events {
				switch {
				case err != nil:
					return err
				case ev.At > to:
					return e.Now(visit)
				case ev.At <= from:
					err = e.Add(ev, nil)
				default:
					err = e.Add(ev, visit)
				}
				if err != nil {
					return err
				}
			}
			return e.Now(visit)
		}
		if err := run(); err != nil && !errors.Is(err, stop) {
			yield(nil, err)
		}
	}
}

// Stats returns the counts so far.
func (e *Enumerator) Stats() Stats { return e.stats }

// Add takes the next event. It first visits the states that arise before the event and were not
// visited yet. If visit is nil, Add forms no states and only follows the log.
func (e *Enumerator) Add(ev Event, visit func(*State) error) error {
	defer func() { e.at = ev.At }()
	switch ev.Kind {
	case Issued:
		return e.issue(ev.Write)
	case Dirtied:
		return e.dirty(ev.Write)
	case Settled:
		if err := e.formPoint(visit); err != nil {
			return err
		}
		return e.settle(ev)
	case Failed:
		if err := e.formPoint(visit); err != nil {
			return err
		}
		e.fail(ev)
		e.layer.failed = e.layer.failed || !ev.Silent
		return nil
	case Marked:
		if e.options.ByMark {
			if err := e.formPoint(visit); err != nil {
				return err
			}
			e.complete = false
		}
		e.mark = ev.Mark
		return nil
	}
	return fmt.Errorf("crash states: an event has the unknown kind %d", ev.Kind)
}

// Now visits the states that can arise at this moment and were not visited yet. Call it at the end
// of a log.
func (e *Enumerator) Now(visit func(*State) error) error { return e.formPoint(visit) }

func (e *Enumerator) issue(w Write) error {
	if err := e.checkWrite(w); err != nil || w.Len == 0 {
		return err
	}
	if e.matchDirty(w) {
		return nil
	}
	return e.enter(split(w, e.options.Unit))
}

// checkWrite returns an error for a write that is not on a disk, not aligned, or has data of
// another length.
func (e *Enumerator) checkWrite(w Write) error {
	size := e.layer.base.Size()
	if d := joined(e.layer.base); d != nil && !d.holds(w.Off, w.Len) {
		return fmt.Errorf("crash states: write %d of %d bytes at %d is on no disk", w.ID, w.Len, w.Off)
	}
	if w.Off > size || w.Len > size-w.Off || (w.Off|w.Len)%SectorSize != 0 ||
		w.Data != nil && uint64(len(w.Data)) != w.Len {
		return fmt.Errorf(
			"crash states: invalid write %d: %d bytes at %d, %d bytes of data, a disk of %d bytes",
			w.ID, w.Len, w.Off, len(w.Data), size)
	}
	return nil
}

// enter appends the units of a write to those in flight.
func (e *Enumerator) enter(units []*unit) error {
	if len(e.flight)+len(units) > maxUnits {
		return &LimitError{"writes in flight", maxUnits}
	}
	for _, u := range units {
		e.seq++
		u.seq, u.steps = e.seq, 1
		if e.options.Torn {
			u.steps = uint32(u.bytes() / SectorSize)
		}
	}
	e.flight = append(e.flight, units...)
	e.byPage.add(units)
	held := uint64(0)
	for _, u := range units {
		held += uint64(len(u.spans[0].data))
	}
	return e.grow(held)
}

func (e *Enumerator) grow(n uint64) error {
	if e.bytes += n; e.bytes > e.options.MemoryBytes {
		return &LimitError{"bytes that the log changes or has in flight", e.options.MemoryBytes}
	}
	return nil
}
