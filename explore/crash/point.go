package crash

import (
	"math"
	"math/rand/v2"
	"slices"
)

// formPoint forms the states of the units that are in flight now. If visit is nil, it forms none.
func (e *Enumerator) formPoint(visit func(*State) error) error {
	if visit == nil {
		e.complete = false
		return nil
	}
	if e.complete && !slices.ContainsFunc(e.flight, func(u *unit) bool { return u.fresh }) {
		return nil // the point before has formed all of them
	}
	defer func() { e.stats.Points++ }()
	if !e.complete {
		for _, u := range e.flight {
			u.fresh = true
		}
	}
	e.cache = newPageCache(e.layer, e.flight)
	possible := e.possible()
	e.stats.Possible += possible
	few := possible <= float64(e.options.Limit)
	if !few {
		e.stats.Sampled++
	}
	var err error
	switch {
	case e.formOnly != nil:
		err = e.formOnly()
	case few:
		err = e.formAll(visit)
	default:
		err = e.formSample(visit)
	}
	if e.complete = few; few {
		for _, u := range e.flight {
			u.fresh = false
		}
	}
	return err
}

// possible counts the states of the point. If the point before formed all its states, only states
// with a fresh unit count.
func (e *Enumerator) possible() float64 {
	all, old := 1.0, 1.0
	for _, u := range e.flight {
		all *= float64(u.steps) + 1
		if !u.fresh {
			old *= float64(u.steps) + 1
		}
	}
	if e.complete {
		all -= old
	}
	return min(all, math.MaxFloat64)
}

// formAll counts through the levels of all units. The level of the first unit changes fastest.
func (e *Enumerator) formAll(visit func(*State) error) error {
	levels := make([]uint32, len(e.flight))
	for {
		if !e.complete || e.anyFresh(levels) {
			if err := e.formState(levels, visit); err != nil {
				return err
			}
		}
		i := 0
		for ; i < len(levels) && levels[i] == e.flight[i].steps; i++ {
			levels[i] = 0
		}
		if i == len(levels) {
			return nil
		}
		levels[i]++
	}
}

func (e *Enumerator) anyFresh(levels []uint32) bool {
	for i, l := range levels {
		if l > 0 && e.flight[i].fresh {
			return true
		}
	}
	return false
}

// formSample forms the states that the comment of Options.Limit lists.
func (e *Enumerator) formSample(visit func(*State) error) error {
	s := &sampler{
		e:      e,
		levels: make([]uint32, len(e.flight)),
		left:   e.options.Limit,
		visit:  visit,
	}
	if err := s.prefixes(); err != nil {
		return err
	}
	s.left = max(s.left, (e.options.Limit+1)/2)
	if err := s.allButOne(); err != nil {
		return err
	}
	if err := s.singles(); err != nil {
		return err
	}
	return s.random()
}

// A sampler forms some of the states of a point.
type sampler struct {
	e      *Enumerator
	levels []uint32
	left   int // states that it may still form
	visit  func(*State) error
}

func (s *sampler) form() error {
	s.left--
	return s.e.formState(s.levels, s.visit)
}

// prefixes forms each prefix of the units in flight, whatever the limit. All units are on the disk
// when it ends.
func (s *sampler) prefixes() error {
	if err := s.form(); err != nil {
		return err
	}
	for i, u := range s.e.flight {
		s.levels[i] = u.steps
		if err := s.form(); err != nil {
			return err
		}
	}
	return nil
}

// allButOne forms the states in which one unit is missing. It begins with the last unit, which is
// usually the commit.
func (s *sampler) allButOne() error {
	n := len(s.levels)
	for i := 0; i < n && s.left > 0; i++ {
		k := n - 1 - i
		s.e.leaveOut(k, s.levels)
		if err := s.form(); err != nil {
			return err
		}
		for j := k; j < n; j++ {
			s.levels[j] = s.e.flight[j].steps
		}
	}
	return nil
}

// singles forms the states with one unit alone, the last unit first.
func (s *sampler) singles() error {
	clear(s.levels)
	n := len(s.levels)
	for i := 0; i < n && s.left > 0; i++ {
		k := n - 1 - i
		s.levels[k] = s.e.flight[k].steps
		if err := s.form(); err != nil {
			return err
		}
		s.levels[k] = 0
	}
	return nil
}

// random forms states that the seed chooses, until the limit is reached.
func (s *sampler) random() error {
	random := rand.New(rand.NewPCG(s.e.options.Seed, uint64(s.e.stats.Points)))
	for s.left > 0 {
		share := random.Float64()
		for i, u := range s.e.flight {
			switch {
			case random.Float64() >= share:
				s.levels[i] = 0
			case u.steps > 1 && random.IntN(4) == 0:
				s.levels[i] = 1 + random.Uint32N(u.steps)
			default:
				s.levels[i] = u.steps
			}
		}
		if err := s.form(); err != nil {
			return err
		}
	}
	return nil
}

// leaveOut removes a unit from a state, and the dirty units after it that overlap it: later
// versions of its blocks would hide that it is missing.
func (e *Enumerator) leaveOut(k int, levels []uint32) {
	levels[k] = 0
	for j := k + 1; j < len(levels); j++ {
		u := e.flight[j]
		if u.dirty && slices.ContainsFunc(e.flight[k].spans, func(s span) bool {
			return u.overlaps(s.off, s.len)
		}) {
			levels[j] = 0
		}
	}
}

// formState forms a state. It visits the state unless it equals an earlier one.
func (e *Enumerator) formState(levels []uint32, visit func(*State) error) error {
	e.stats.Formed++
	s := &State{
		Point:   e.stats.Points,
		At:      e.at,
		Mark:    e.mark,
		Durable: e.layer.sum,
		layer:   e.layer,
		flight:  e.flight,
		cache:   e.cache,
		levels:  levels,
	}
	var err error
	if s.over, s.Sig, err = e.cache.state(levels); err != nil {
		return err
	}
	key := seenKey{sig: s.Sig}
	if e.options.ByMark {
		key.mark = e.mark
	}
	if _, ok := e.seen[key]; ok {
		e.stats.Repeated++
		if !e.options.Repeats {
			return nil
		}
	} else {
		if len(e.seen) >= maxSeen {
			clear(e.seen) // states equal to these are visited once more
		}
		e.seen[key] = struct{}{}
	}
	return visit(s)
}
