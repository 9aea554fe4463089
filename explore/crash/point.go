package crash

import (
	"math"
	"math/rand/v2"
	"slices"
)

// point forms the states of what is in flight now.
func (e *Enumerator) point(visit func(*State) error) error {
	if visit == nil {
		e.whole = false
		return nil
	}
	if e.whole && !slices.ContainsFunc(e.flight, func(u *unit) bool { return u.fresh }) {
		return nil // all of them were formed at the point before
	}
	defer func() { e.stats.Points++ }()
	if !e.whole {
		for _, u := range e.flight {
			u.fresh = true
		}
	}
	e.forms = newForms(e.layer, e.flight)
	possible := e.possible()
	e.stats.Possible += possible
	few := possible <= float64(e.options.Limit)
	if !few {
		e.stats.Sampled++
	}
	var err error
	switch {
	case e.only != nil:
		err = e.only()
	case few:
		err = e.all(visit)
	default:
		err = e.sample(visit)
	}
	if e.whole = few; few {
		for _, u := range e.flight {
			u.fresh = false
		}
	}
	return err
}

// possible counts the states of the point: those with something fresh in them, or all.
func (e *Enumerator) possible() float64 {
	all, old := 1.0, 1.0
	for _, u := range e.flight {
		all *= float64(u.steps) + 1
		if !u.fresh {
			old *= float64(u.steps) + 1
		}
	}
	if e.whole {
		all -= old
	}
	return min(all, math.MaxFloat64)
}

// all counts through the levels of all units, the first fastest.
func (e *Enumerator) all(visit func(*State) error) error {
	levels := make([]uint32, len(e.flight))
	for {
		if !e.whole || e.anyFresh(levels) {
			if err := e.form(levels, visit); err != nil {
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

// sample forms each prefix, and beyond them what the limit leaves room for.
func (e *Enumerator) sample(visit func(*State) error) error {
	n := len(e.flight)
	levels := make([]uint32, n)
	left := e.options.Limit
	form := func() error {
		left--
		return e.form(levels, visit)
	}
	if err := form(); err != nil {
		return err
	}
	for i := range n {
		levels[i] = e.flight[i].steps
		if err := form(); err != nil {
			return err
		}
	}
	left = max(left, (e.options.Limit+1)/2)
	for i := 0; i < n && left > 0; i++ { // all but one, the last first: it is the commit, mostly
		k := n - 1 - i
		e.without(k, levels)
		if err := form(); err != nil {
			return err
		}
		for j := k; j < n; j++ {
			levels[j] = e.flight[j].steps
		}
	}
	clear(levels)
	for i := 0; i < n && left > 0; i++ {
		k := n - 1 - i
		levels[k] = e.flight[k].steps
		if err := form(); err != nil {
			return err
		}
		levels[k] = 0
	}
	random := rand.New(rand.NewPCG(e.options.Seed, uint64(e.stats.Points)))
	for left > 0 {
		share := random.Float64()
		for i, u := range e.flight {
			switch {
			case random.Float64() >= share:
				levels[i] = 0
			case u.steps > 1 && random.IntN(4) == 0:
				levels[i] = 1 + random.Uint32N(u.steps)
			default:
				levels[i] = u.steps
			}
		}
		if err := form(); err != nil {
			return err
		}
	}
	return nil
}

// form makes a state and visits it, unless it is equal to one before.
func (e *Enumerator) form(levels []uint32, visit func(*State) error) error {
	e.stats.Formed++
	s := &State{Point: e.stats.Points, At: e.at, Mark: e.mark, Durable: e.layer.sum, layer: e.layer, flight: e.flight, forms: e.forms, levels: levels}
	var err error
	if s.over, s.Sig, err = e.forms.state(levels); err != nil {
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
			clear(e.seen) // what is equal to one of these is formed again
		}
		e.seen[key] = struct{}{}
	}
	return visit(s)
}
