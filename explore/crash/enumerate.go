package crash

import (
	"errors"
	"fmt"
	"iter"
	"math"
	"slices"
)

// Options say which states are formed. The zero value forms those of whole writes, all of them where there are few.
type Options struct {
	// Unit: a write is taken as several that end at multiples of Unit bytes, each of which can be on the disk without the
	// others, since layers below a file system join its writes. SectorSize: any subset of the sectors. 0: writes are whole.
	Unit uint64
	// Torn: of each unit the first sectors can be on the disk without the others.
	Torn bool
	// Limit is how many states are formed at a point. Where there are more, each prefix of what is in flight is formed,
	// then all but one unit (of blocks that were dirtied: and its later versions), one unit alone, and what the seed chooses, up to Limit, and half as many as that in any case, since
	// prefixes alone say nothing of a disk that changes the order. 0: DefaultLimit.
	Limit int
	Seed  uint64 // of the choice
	// ByMark: states are told apart by the last mark before them, so that what a call promised when it returned can be
	// asked of each state that can arise after it.
	ByMark bool
	// Repeats: states that are equal to one formed before are formed as well.
	Repeats bool
	// MemoryBytes bounds what is held: the pages that the log changes, and what is in flight. 0: DefaultMemory.
	MemoryBytes uint64
}

const (
	DefaultLimit  = 1 << 12 // states at a point
	DefaultMemory = 1 << 30 // bytes
	maxUnits      = 1 << 20 // in flight
	maxSeen       = 1 << 20 // signatures that are remembered
	maxForms      = 1 << 14 // contents of a page that are remembered at one point
)

// Stats count what was done.
type Stats struct {
	Points   int     // of the log where states were formed
	Sampled  int     // of them, those with more than Limit
	Possible float64 // states that there are, equal ones counted as often as they arise; of few exact
	Formed   int     // states that were formed
	Repeated int     // of them, those that were equal to one before, and not visited
}

// Exhaustive tells whether every state was formed.
func (s Stats) Exhaustive() bool { return s.Sampled == 0 }

// A LimitError says that a log takes more than the bounds allow.
type LimitError struct {
	What  string
	Limit uint64
}

func (e *LimitError) Error() string {
	return fmt.Sprintf("crash states: more than %d %s", e.Limit, e.What)
}

// An Enumerator forms the states of a log, event by event. Used by one goroutine.
type Enumerator struct {
	options Options
	layer   *layer
	flight  []*unit // in the order in which they were issued
	bytes   uint64  // that they and the layer hold
	seq     uint64
	mark    string
	at      uint64 // of the last event
	whole   bool   // all states of the last point were formed, and nothing was marked since
	seen    map[seenKey]struct{}
	forms   *forms
	stats   Stats
	only    func() error // in the place of forming all states of a point; nil: all are formed
}

type seenKey struct {
	sig  Signature
	mark string
}

// New begins with a disk on which everything is durable.
func New(base Base, options Options) *Enumerator {
	if options.Limit <= 0 {
		options.Limit = DefaultLimit
	}
	if options.MemoryBytes == 0 {
		options.MemoryBytes = DefaultMemory
	}
	return &Enumerator{options: options, layer: newLayer(base), seen: make(map[seenKey]struct{})}
}

// Each forms the states of a whole log. It ends with the first error, of the log or of visit.
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

// Within yields the states that can arise after the event at from and until the event at to has happened; only those of
// that moment if they are the same.
func Within(base Base, events Events, options Options, from, to uint64) iter.Seq2[*State, error] {
	return func(yield func(*State, error) bool) {
		stop := errors.New("no more states are wanted")
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

// Stats returns what was counted so far.
func (e *Enumerator) Stats() Stats { return e.stats }

// Add takes the next event, and visits the states that arise before it and have not been visited. visit may be nil: then
// none are formed, and the log is followed all the same.
func (e *Enumerator) Add(ev Event, visit func(*State) error) error {
	defer func() { e.at = ev.At }()
	switch ev.Kind {
	case Issued:
		return e.issue(ev.Write)
	case Dirtied:
		return e.dirty(ev.Write)
	case Settled:
		if err := e.point(visit); err != nil {
			return err
		}
		return e.settle(ev)
	case Failed:
		if err := e.point(visit); err != nil {
			return err
		}
		e.fail(ev)
		return nil
	case Marked:
		if e.options.ByMark {
			if err := e.point(visit); err != nil {
				return err
			}
			e.whole = false
		}
		e.mark = ev.Mark
		return nil
	}
	return fmt.Errorf("crash states: an event of kind %d", ev.Kind)
}

// Now visits the states that can arise at this moment and have not been visited: the end of the log, say.
func (e *Enumerator) Now(visit func(*State) error) error { return e.point(visit) }

func (e *Enumerator) issue(w Write) error {
	if err := e.checkWrite(w); err != nil || w.Len == 0 {
		return err
	}
	if e.take(w) {
		return nil
	}
	return e.enter(cut(w, e.options.Unit))
}

// checkWrite says what is wrong with a write.
func (e *Enumerator) checkWrite(w Write) error {
	size := e.layer.base.Size()
	if d := joined(e.layer.base); d != nil && !d.holds(w.Off, w.Len) {
		return fmt.Errorf("crash states: write %d of %d bytes at %d: no disk has that", w.ID, w.Len, w.Off)
	}
	if w.Off > size || w.Len > size-w.Off || (w.Off|w.Len)%SectorSize != 0 || w.Data != nil && uint64(len(w.Data)) != w.Len {
		return fmt.Errorf("crash states: write %d of %d bytes at %d with %d bytes of data, on a disk of %d bytes", w.ID, w.Len, w.Off, len(w.Data), size)
	}
	return nil
}

// enter puts the units of a write behind those that are in flight.
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

// settle makes writes durable. What was issued before them and is still in flight cannot show where they are.
func (e *Enumerator) settle(ev Event) error {
	var done, left []*unit
	for _, u := range e.flight {
		if u.issued() && (ev.All || slices.Contains(ev.IDs, u.write())) {
			done = append(done, u)
		} else {
			left = append(left, u)
		}
	}
	for _, u := range done {
		if err := e.store(u); err != nil {
			return err
		}
		for _, earlier := range left {
			if earlier.seq < u.seq {
				for _, s := range u.spans {
					earlier.without(s.off, s.len)
				}
			}
		}
	}
	e.flight = left
	e.trim()
	return nil
}

// fail takes from writes what was not done of them.
func (e *Enumerator) fail(ev Event) {
	e.giveBack(ev)
	for _, u := range e.flight {
		if !u.dirty && slices.Contains(ev.IDs, u.id) {
			from, was := u.off+ev.Done, u.bytes()
			u.without(from, math.MaxUint64-from)
			u.fresh = u.fresh || u.bytes() < was // what is left is another write
		}
	}
	e.trim()
}

// trim drops the units of which nothing is left, and counts the steps of the others anew.
func (e *Enumerator) trim() {
	e.flight = slices.DeleteFunc(e.flight, func(u *unit) bool { return len(u.spans) == 0 })
	if e.options.Torn {
		for _, u := range e.flight {
			u.steps = uint32(u.bytes() / SectorSize)
		}
	}
}

// store puts a unit into the layer.
func (e *Enumerator) store(u *unit) (err error) {
	pages(u.spans, func(number uint64) {
		if err != nil {
			return
		}
		var was, now page
		if was, err = e.layer.page(number); err != nil {
			return
		}
		if _, written := e.layer.pages[number]; !written {
			err = e.grow(PageSize)
		}
		now.contents = slices.Clone(was.contents) // so that the write's data can go
		lay(now.contents, number, u.spans)
		now.sum = e.layer.hasher.page(number, now.contents)
		e.layer.set(number, was, now)
	})
	for _, s := range u.spans {
		e.bytes -= uint64(len(s.data))
	}
	return err
}

// lay puts spans over a page's contents.
func lay(b []byte, number uint64, spans []span) {
	for _, s := range spans {
		if s.meets(number*PageSize, uint64(len(b))) {
			s.put(b, number*PageSize)
		}
	}
}

// Form visits the state with an ID of State.ID again, formed from the same log over the same base with the same Options.
func Form(base Base, events Events, options Options, id string, visit func(*State) error) error {
	point, which, err := parseID(id)
	if err != nil {
		return err
	}
	e := New(base, options)
	found := false
	e.only = func() error {
		if found || e.stats.Points != point {
			return nil
		}
		found = true
		levels := make([]uint32, len(e.flight))
		for i, u := range e.flight {
			level, all := which(i)
			if all {
				level = u.steps
			}
			if level > u.steps {
				return fmt.Errorf("crash state %q: unit %d has %d steps", id, i, u.steps)
			}
			levels[i] = level
		}
		return e.form(levels, visit)
	}
	none := func(*State) error { return nil }
	for ev, err := range events {
		if err == nil {
			err = e.Add(ev, none)
		}
		if err != nil || found {
			return err
		}
	}
	if err := e.Now(none); err != nil || found {
		return err
	}
	return fmt.Errorf("crash state %q: the log has no such point", id)
}
