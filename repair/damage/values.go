package damage

import "slices"

// interesting returns the values that a field is set to first: the ends of its range and of the
// signed one, its neighbors, each single bit flipped, and donors, the values of the same field at
// other places. The old value is not among them.
func (f *Field) interesting(donors []uint64) []uint64 {
	if f.Width == 0 {
		return []uint64{0}
	}
	mask := f.Mask()
	half := mask>>1 + 1
	list := []uint64{0, mask, 1, half, half - 1, mask - 1, 2}
	if f.Known {
		list = append(list, f.Old+1, f.Old-1)
	}
	list = slices.Concat(list, f.given, donors)
	if f.Known {
		for bit := range 8 * f.Width {
			list = append(list, f.Old^1<<bit)
		}
		list = append(list, f.Old*2, f.Old/2, f.Old+256, ^f.Old)
	}
	var out []uint64
	for _, v := range list {
		if v &= mask; !slices.Contains(out, v) && (!f.Known || v != f.Old) {
			out = append(out, v)
		}
	}
	return out
}

// Mask returns the greatest value of the field.
func (f *Field) Mask() uint64 {
	if f.Width >= 8 {
		return ^uint64(0)
	}
	return 1<<(8*f.Width) - 1
}

// maxDonors bounds the values that a field takes from others of its group.
const maxDonors = 8

// donors returns the values of the fields of each group, without repetition.
func donors(fields []*Field) map[string][]uint64 {
	values := map[string][]uint64{}
	for _, f := range fields {
		if v := values[f.Group]; f.Known && len(v) < maxDonors && !slices.Contains(v, f.Old) {
			values[f.Group] = append(v, f.Old)
		}
	}
	return values
}
