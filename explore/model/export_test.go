package model

import "slices"

// MomentsOf returns the moments that the timeline leaves, and those that match an observed tree.
func (f *FS) MomentsOf(s *Observed) (possible, matching []int) {
	moments := f.disk.moments(&f.tree)
	slices.Reverse(moments)
	for _, moment := range moments {
		if f.ofMoment(s, moment) == nil {
			matching = append(matching, moment)
		}
	}
	return f.possible(s, moments), matching
}
