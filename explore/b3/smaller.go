package b3

import "slices"

// minRun is the number of steps that Smallest leaves out at once, at least. Shorter workloads lose
// one step at a time.
const minRun = 8

// Smallest leaves out steps while shows reports that the rest shows what the workload shows: first
// many steps at once, for a workload of a thousand names, and then one by one. If shows fails, it
// returns the smallest workload so far and the error.
func (w Workload) Smallest(shows func(Workload) (bool, error)) (Workload, error) {
	for size := len(w) / 2; size >= minRun; size /= 2 {
		for at := 0; at+size <= len(w); {
			small := slices.Delete(slices.Clone(w), at, at+size)
			if len(small.Points()) == 0 {
				at += size
				continue
			}
			ok, err := shows(small)
			switch {
			case err != nil:
				return w, err
			case ok:
				w = small
			default:
				at += size
			}
		}
	}
	for again := true; again; {
		again = false
		for _, small := range w.Smaller() {
			ok, err := shows(small)
			if err != nil {
				return w, err
			}
			if ok {
				w, again = small, true
				break
			}
		}
	}
	return w, nil
}

// Smaller returns the workloads that are one step smaller: each without one of the operations and
// what makes it persistent, then each without one of the persistence points. All of them have a
// persistence point left.
func (w Workload) Smaller() (out []Workload) {
	follows := func(s Step) bool { return s.Verb == Fsync || s.Verb == Sync }
	var points []Workload
	for i := 0; i < len(w); i++ {
		end := i + 1
		if end < len(w) && !follows(w[i]) && follows(w[end]) {
			end++
		}
		switch {
		case follows(w[i]):
			points = append(points, slices.Delete(slices.Clone(w), i, i+1))
		case end == len(w): // its persistence point may matter for earlier operations
			out = append(out, slices.Delete(slices.Clone(w), i, i+1))
		default:
			out = append(out, slices.Delete(slices.Clone(w), i, end))
		}
	}
	return slices.DeleteFunc(append(out, points...), func(w Workload) bool {
		return len(w) == 0 || len(w.Points()) == 0
	})
}
