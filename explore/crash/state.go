package crash

import (
	"iter"
	"maps"
	"slices"
)

// A State is the contents that a crash can leave on a disk. Several goroutines may read it. It is
// valid until the visit function that receives it returns.
type State struct {
	Point   int       // number of the point of the log at which it arises, from 0
	At      uint64    // position of the last event before it
	Mark    string    // the last mark before it; "" if there is none
	Sig     Signature // equal for equal contents; zero for the contents of the base
	Durable Signature // of the state without any unit in flight

	layer  *layer
	flight []*unit
	cache  *pageCache
	levels []uint32        // by unit in flight: number of steps that are on the disk
	over   map[uint64]page // the pages in which it may differ from the layer
}

// ReadAt reads from the disk. A range that is not on the disk is an error.
func (s *State) ReadAt(p []byte, off int64) (int, error) {
	return s.layer.readAt(p, off, func(number uint64) ([]byte, bool) {
		c, ok := s.over[number]
		return c.contents, ok
	})
}

// Size returns the size of the disk in bytes.
func (s *State) Size() uint64 { return s.layer.base.Size() }

// InFlight reports whether a write in flight overlaps a page. All other pages are the same in all
// states of the point.
func (s *State) InFlight(number uint64) bool {
	_, ok := s.cache.writers[number]
	return ok
}

// AllInFlight yields the numbers of the pages that writes in flight overlap, in no order.
func (s *State) AllInFlight() iter.Seq[uint64] { return maps.Keys(s.cache.writers) }

// Pages yields the pages in which the disk differs from the base, in order: the address of each in
// bytes, and its contents, which must not be changed.
func (s *State) Pages() iter.Seq2[uint64, []byte] {
	return func(yield func(uint64, []byte) bool) {
		numbers := slices.Collect(maps.Keys(s.over))
		for number := range s.layer.pages {
			if _, ok := s.over[number]; !ok {
				numbers = append(numbers, number)
			}
		}
		slices.Sort(numbers)
		for _, number := range numbers {
			p, ok := s.over[number]
			if !ok {
				p = s.layer.pages[number]
			}
			if p.sum != s.layer.origin[number] && !yield(number*PageSize, p.contents) {
				return
			}
		}
	}
}

// Base returns the disk before the log.
func (s *State) Base() Base { return s.layer.base }

// From returns the state that a recovery began with, if this state is the result of that recovery
// or of a crash during it. Otherwise it returns nil.
func (s *State) From() *State {
	from, _ := s.layer.base.(*State)
	return from
}

// Contents returns the signature of the disk against the base of the log. It differs from Sig if
// the state comes from a recovery, whose base is another state.
func (s *State) Contents() Signature {
	if from := s.From(); from != nil {
		return s.Sig.Plus(from.Contents())
	}
	return s.Sig
}

// Page returns the signature of a page: zero if its contents are those of the base, and different
// for different contents.
func (s *State) Page(number uint64) Signature {
	p, ok := s.over[number]
	if !ok {
		if p, ok = s.layer.pages[number]; !ok {
			return Signature{}
		}
	}
	return p.sum.minus(s.layer.origin[number])
}

// Settled returns the state of the same point that has no unit in flight on the disk.
func (s *State) Settled() *State {
	return &State{
		Point:   s.Point,
		At:      s.At,
		Mark:    s.Mark,
		Sig:     s.Durable,
		Durable: s.Durable,
		layer:   s.layer,
		flight:  s.flight,
		cache:   s.cache,
		levels:  make([]uint32, len(s.levels)),
	}
}

// Adding returns the state of the same point in which a write in flight is on the disk as a whole,
// too.
func (s *State) Adding(write uint64) (*State, error) {
	t := *s
	t.levels = slices.Clone(s.levels)
	for i, u := range s.flight {
		if u.write() == write {
			t.levels[i] = u.steps
		}
	}
	var err error
	t.over, t.Sig, err = s.cache.anew().state(t.levels)
	return &t, err
}

// Missing lists the writes in flight that were issued and are not on the disk as a whole, in the
// order of issue.
func (s *State) Missing() (writes []uint64) {
	listed := make(map[uint64]bool)
	for i, u := range s.flight {
		if id := u.write(); s.levels[i] < u.steps && u.issued() && !listed[id] {
			listed[id] = true
			writes = append(writes, id)
		}
	}
	return writes
}

// A TornWrite is a write of which only a part is on the disk.
type TornWrite struct {
	ID   uint64
	Len  uint64  // bytes of the write
	Done []Range // on the disk, relative to the begin of the write, in order
}

// A Range is a range of bytes.
type Range struct{ Off, Len uint64 }

// Torn lists the missing writes of which some sectors are on the disk, in the order of issue.
func (s *State) Torn() (out []TornWrite) {
	missing := s.Missing()
	isMissing := idSet(missing)
	done := make(map[uint64][]Range)
	length := make(map[uint64]uint64)
	for i, u := range s.flight {
		id := u.write()
		if !u.issued() || !isMissing[id] {
			continue
		}
		length[id] += u.bytes()
		for _, p := range u.spansAt(s.levels[i]) {
			r := Range{p.off - u.writeOff, p.len}
			if s.levels[i] == 0 || r.Len == 0 {
				continue
			}
			if n := len(done[id]); n > 0 && done[id][n-1].Off+done[id][n-1].Len == r.Off {
				done[id][n-1].Len += r.Len
			} else {
				done[id] = append(done[id], r)
			}
		}
	}
	for _, id := range missing {
		if len(done[id]) > 0 {
			out = append(out, TornWrite{ID: id, Len: length[id], Done: done[id]})
		}
	}
	return out
}

// Early lists the blocks that are on the disk although they were not issued, in the order in which
// they were dirtied. The kernel held them and could write them at any moment. Early leaves out the
// parts that a later version hides.
func (s *State) Early() (blocks []Write) {
	over := make(map[uint64][]span) // by page: what later units show there
	for i, u := range slices.Backward(s.flight) {
		if s.levels[i] == 0 {
			continue
		}
		visible := &unit{spans: u.spansAt(s.levels[i])}
		eachPage(visible.spans, func(n uint64) {
			for _, p := range over[n] {
				visible.subtract(p.off, p.len)
			}
		})
		for _, p := range visible.spans {
			eachPage([]span{p}, func(n uint64) { over[n] = append(over[n], p) })
			if !u.issued() {
				blocks = append(blocks, Write{ID: u.id, Off: p.off, Len: p.len, Data: p.data})
			}
		}
	}
	slices.Reverse(blocks)
	return blocks
}
