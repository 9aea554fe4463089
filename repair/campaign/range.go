package campaign

import (
	"fmt"

	"fsward/repair/damage"
)

// ranged are the damages with numbers from first on.
type ranged struct {
	damages
	first, count uint64
}

// within returns the damages with the numbers of a range, FIRST-LAST; "" is all. A unit of a larger
// campaign has such a range.
func within(all damages, text string) (damages, error) {
	if text == "" {
		return all, nil
	}
	first, last, err := readRange(text)
	if err != nil {
		return nil, err
	}
	if last >= all.Count() {
		return nil, fmt.Errorf("range %s: there are the damages 0 to %d", text, all.Count()-1)
	}
	return &ranged{all, first, last - first + 1}, nil
}

// readRange returns the first and the last number of a range.
func readRange(text string) (first, last uint64, err error) {
	n, err := fmt.Sscanf(text+"\n", "%d-%d\n", &first, &last)
	if n != 2 || err != nil || last < first {
		return 0, 0, fmt.Errorf("range %q: want FIRST-LAST, two numbers of damages", text)
	}
	return first, last, nil
}

// First returns how many damages are among those that are tried first.
func (r *ranged) First() uint64 {
	return min(r.damages.First()-min(r.first, r.damages.First()), r.count)
}

// Count returns the number of damages.
func (r *ranged) Count() uint64 { return r.count }

// At returns a damage, with a number from 0 on.
func (r *ranged) At(n uint64) (*damage.Damage, error) { return r.damages.At(r.first + n) }
