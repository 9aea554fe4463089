package b3

import (
	"iter"
	"slices"
)

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
		for small := range w.Smaller() {
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

// Smaller yields the workloads that are one step smaller: each without one of the operations and
// what makes it persistent, then each without one of the persistence points. All of them have a
// persistence point left. A workload of ten thousand steps has as many, so that they are made one
// by one.
func (w Workload) Smaller() iter.Seq[Workload] {
	return func(yield func(Workload) bool) {
		for _, points := range []bool{false, true} {
			for i := range w {
				if w[i].follows() != points {
					continue
				}
				end := i + 1
				// The persistence point at the end stays: it may matter for earlier operations.
				if !points && end+1 < len(w) && w[end].follows() {
					end++
				}
				small := slices.Delete(slices.Clone(w), i, end)
				if len(small.Points()) > 0 && !yield(small) {
					return
				}
			}
		}
	}
}

// follows reports whether a step makes the operation before it persistent.
func (s Step) follows() bool { return s.Verb == Fsync || s.Verb == Sync }
