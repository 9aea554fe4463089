package b3

import "slices"

// maxCompleted bounds the steps of a workload that core takes.
const maxCompleted = 64

// core returns the first workload of the set that Complete makes into w.
func (s *Set) core(w Workload) (Workload, bool) {
	if len(w) > maxCompleted {
		return nil, false
	}
	return s.search(nil, w, 0)
}

// search continues a workload that has some operations, so that it becomes w.
func (s *Set) search(core, w Workload, operations int) (Workload, bool) {
	if operations == s.Length {
		for _, after := range append(persistsIn(w), Step{}) {
			done := slices.Clone(core)
			if after.Verb != invalid {
				done = append(done, after)
			}
			if _, err := s.counter.rank(done); err == nil && slices.Equal(done.Complete(), w) {
				return done, true
			}
		}
		return nil, false
	}
	for _, step := range s.counter.params {
		afters := []Step{{}}
		if operations+1 < s.Length {
			afters = append(persistsIn(w), Step{})
		}
		for _, after := range afters {
			next := append(slices.Clone(core), step)
			if after.Verb != invalid {
				next = append(next, after)
			}
			if !begins(next, w) {
				continue
			}
			if found, ok := s.search(next, w, operations+1); ok {
				return found, true
			}
		}
	}
	return nil, false
}

// persistsIn returns the different calls of fsync and sync in a workload.
func persistsIn(w Workload) (steps []Step) {
	for _, s := range w {
		if (s.Verb == Fsync || s.Verb == Sync) && !slices.Contains(steps, s) {
			steps = append(steps, s)
		}
	}
	return steps
}

// begins reports whether the completion of core is the begin of w.
func begins(core, w Workload) bool {
	c := newCompleter()
	for _, s := range core {
		if c.add(s); len(c.out) > len(w) {
			return false
		}
	}
	return slices.Equal(c.out, w[:len(c.out)])
}
