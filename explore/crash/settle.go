package crash

import (
	"math"
	"slices"
)

// settle makes writes durable. They hide earlier units that are still in flight where they overlap.
func (e *Enumerator) settle(ev Event) error {
	var done []*unit
	ids := idSet(ev.IDs)
	e.flight = slices.DeleteFunc(e.flight, func(u *unit) bool {
		is := u.issued() && (ev.All || ids[u.write()])
		if is {
			done = append(done, u)
		}
		return is
	})
	for _, u := range done {
		if err := e.store(u); err != nil {
			return err
		}
		for _, older := range e.flight {
			if older.seq < u.seq {
				for _, s := range u.spans {
					older.subtract(s.off, s.len)
				}
			}
		}
	}
	e.trim()
	return nil
}

// idSet returns the IDs of a list, which may have as many as a disk writes between two flushes.
func idSet(list []uint64) map[uint64]bool {
	set := make(map[uint64]bool, len(list))
	for _, id := range list {
		set[id] = true
	}
	return set
}

// fail removes from writes the part that failed.
func (e *Enumerator) fail(ev Event) {
	e.unmatchDirty(ev)
	ids := idSet(ev.IDs)
	for _, u := range e.flight {
		if !u.dirty && ids[u.id] {
			from, was := u.writeOff+ev.Done, u.bytes()
			u.subtract(from, math.MaxUint64-from)
			u.fresh = u.fresh || u.bytes() < was // the rest makes other states
		}
	}
	e.trim()
}

// trim drops empty units and updates the steps of the others.
func (e *Enumerator) trim() {
	e.byPage = nil
	e.flight = slices.DeleteFunc(e.flight, func(u *unit) bool { return len(u.spans) == 0 })
	if e.options.Torn {
		for _, u := range e.flight {
			u.steps = uint32(u.bytes() / SectorSize)
		}
	}
}

// store writes a unit to the layer.
func (e *Enumerator) store(u *unit) (err error) {
	eachPage(u.spans, func(number uint64) {
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
		now.contents = slices.Clone(was.contents) // a copy, so that the data of the write is freed
		applySpans(now.contents, number, u.spans)
		now.sum = e.layer.hasher.Page(number, now.contents)
		e.layer.set(number, was, now)
	})
	for _, s := range u.spans {
		e.bytes -= uint64(len(s.data))
	}
	return err
}
