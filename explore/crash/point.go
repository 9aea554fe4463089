package crash

import (
	"iter"
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
	e.stats.Possible = AddPossible(e.stats.Possible, possible)
	few := possible <= float64(e.options.Limit)
	if !few {
		e.stats.Sampled++
	}
	if err := e.formStates(few, visit); err != nil {
		return err
	}
	if e.complete = few && e.options.Order == AnyOrder; e.complete {
		for _, u := range e.flight {
			u.fresh = false
		}
	}
	return nil
}

// formStates forms the states of a point: all if there are few, and else a sample.
func (e *Enumerator) formStates(few bool, visit func(*State) error) error {
	switch {
	case e.formOnly != nil:
		return e.formOnly()
	case e.options.Order == InOrder:
		return e.formInOrder(visit)
	case e.options.Order == OneBroken:
		for lo, hi := range e.writes() {
			if err := e.formRange(lo, hi, visit); err != nil {
				return err
			}
		}
		return nil
	case few:
		return e.formAll(0, len(e.flight), visit)
	}
	return e.formSample(0, len(e.flight), visit)
}

// formRange forms the states in which all units before lo, and none from hi on, are on the disk.
func (e *Enumerator) formRange(lo, hi int, visit func(*State) error) error {
	possible := 1.0
	for _, u := range e.flight[lo:hi] {
		possible *= float64(u.steps) + 1
	}
	if possible <= float64(e.options.Limit) {
		return e.formAll(lo, hi, visit)
	}
	return e.formSample(lo, hi, visit)
}

// writes yields the ranges of the units in flight that belong to one write each.
func (e *Enumerator) writes() iter.Seq2[int, int] {
	return func(yield func(lo, hi int) bool) {
		for lo := 0; lo < len(e.flight); {
			hi := lo + 1
			for hi < len(e.flight) && e.flight[hi].write() == e.flight[lo].write() {
				hi++
			}
			if !yield(lo, hi) {
				return
			}
			lo = hi
		}
	}
}

// before returns levels at which all units before number n are on the disk, and no others.
func (e *Enumerator) before(n int) []uint32 {
	levels := make([]uint32, len(e.flight))
	for i, u := range e.flight[:n] {
		levels[i] = u.steps
	}
	return levels
}

// formInOrder forms the states of the order InOrder.
func (e *Enumerator) formInOrder(visit func(*State) error) error {
	levels := e.before(0)
	if err := e.formState(levels, visit); err != nil {
		return err
	}
	for i, u := range e.flight {
		for level := range u.steps {
			levels[i] = level + 1
			if err := e.formState(levels, visit); err != nil {
				return err
			}
		}
	}
	return nil
}

// possible counts the states of the point. If the point before formed all its states, only states
// with a fresh unit count.
func (e *Enumerator) possible() float64 {
	switch e.options.Order {
	case InOrder:
		n := 1.0
		for _, u := range e.flight {
			n += float64(u.steps)
		}
		return n
	case OneBroken:
		n := 1.0
		for lo, hi := range e.writes() {
			all := 1.0
			for _, u := range e.flight[lo:hi] {
				all *= float64(u.steps) + 1
			}
			n += all - 1
		}
		return min(n, math.MaxFloat64)
	}
	all, old := 1.0, 1.0
	for _, u := range e.flight {
		all = min(all*(float64(u.steps)+1), math.MaxFloat64)
		if !u.fresh {
			old = min(old*(float64(u.steps)+1), math.MaxFloat64)
		}
	}
	if e.complete {
		all -= old
	}
	return all
}

// AddPossible adds two numbers of possible states. The sum is at most math.MaxFloat64, because JSON
// has no infinity.
func AddPossible(a, b float64) float64 { return min(a+b, math.MaxFloat64) }

// formAll counts through the levels of the units from lo to hi. The level of the first one changes
// fastest. The units before lo are on the disk.
func (e *Enumerator) formAll(lo, hi int, visit func(*State) error) error {
	levels := e.before(lo)
	for {
		if !e.complete || e.anyFresh(levels) {
			if err := e.formState(levels, visit); err != nil {
				return err
			}
		}
		i := lo
		for ; i < hi && levels[i] == e.flight[i].steps; i++ {
			levels[i] = 0
		}
		if i == hi {
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

// formSample forms the states that the comment of Options.Limit lists, of the units from lo to hi.
// The units before lo are on the disk.
func (e *Enumerator) formSample(lo, hi int, visit func(*State) error) error {
	s := &sampler{
		e:      e,
		lo:     lo,
		hi:     hi,
		levels: e.before(lo),
		left:   e.options.Limit,
		visit:  visit,
	}
	if err := s.prefixes(); err != nil {
		return err
	}
	s.left = max(s.left, (e.options.Limit+1)/2)
	quota := s.left
	if e.options.Unit > 0 {
		quota /= 3 // there are many units, and the last write has the most interesting ones
	}
	if err := s.allButOne(quota); err != nil {
		return err
	}
	if err := s.singles(quota); err != nil {
		return err
	}
	return s.random()
}

// A sampler forms some of the states of a point.
type sampler struct {
	e      *Enumerator
	lo, hi int // the units whose levels it chooses
	levels []uint32
	left   int // states that it may still form
	visit  func(*State) error
}

func (s *sampler) form() error {
	s.left--
	return s.e.formState(s.levels, s.visit)
}

// prefixes forms each prefix of the writes in flight, whatever the limit. All units are on the disk
// when it ends.
func (s *sampler) prefixes() error {
	if err := s.form(); err != nil {
		return err
	}
	for i, u := range s.e.flight[s.lo:s.hi] {
		s.levels[s.lo+i] = u.steps
		next := s.lo + i + 1
		if next < s.hi && s.e.flight[next].write() == u.write() {
			continue
		}
		if err := s.form(); err != nil {
			return err
		}
	}
	return nil
}

// allButOne forms at most so many states in which one unit is missing. It begins with the last
// unit, which is usually the commit.
func (s *sampler) allButOne(most int) error {
	for k := s.hi - 1; k >= s.lo && s.left > 0 && most > 0; k-- {
		s.e.leaveOut(k, s.levels)
		if err := s.form(); err != nil {
			return err
		}
		for j := k; j < s.hi; j++ {
			s.levels[j] = s.e.flight[j].steps
		}
		most--
	}
	return nil
}

// singles forms at most so many states with one unit alone, the last unit first.
func (s *sampler) singles(most int) error {
	clear(s.levels[s.lo:s.hi])
	for k := s.hi - 1; k >= s.lo && s.left > 0 && most > 0; k-- {
		s.levels[k] = s.e.flight[k].steps
		if err := s.form(); err != nil {
			return err
		}
		s.levels[k] = 0
		most--
	}
	return nil
}

// random forms states that the seed chooses, until the limit is reached.
func (s *sampler) random() error {
	random := rand.New(rand.NewPCG(s.e.options.Seed, uint64(s.e.stats.Points)))
	for s.left > 0 {
		chance := random.Float64()
		for j, u := range s.e.flight[s.lo:s.hi] {
			i := s.lo + j
			switch {
			case random.Float64() >= chance:
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
