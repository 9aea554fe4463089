package b3

import "slices"

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
