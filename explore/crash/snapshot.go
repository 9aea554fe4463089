package crash

import (
	"maps"
	"slices"
)

// A Snapshot is a copy of a state that stays valid. It is safe for concurrent use.
type Snapshot struct {
	Sig     Signature
	layer   layer
	own     []uint64 // the pages of the state that were not durable
	changes int      // number of changes of the layer so far
}

// Keep returns a snapshot of the state.
func (s *State) Keep() *Snapshot {
	k := &Snapshot{layer: *s.layer, Sig: s.Sig, changes: len(s.layer.changes)}
	k.layer.pages = maps.Clone(s.layer.pages)
	for number, p := range s.over {
		k.layer.pages[number] = p
		k.own = append(k.own, number)
	}
	return k
}

// Differs returns, in order, the numbers of the pages in which the state differs from a snapshot of
// an earlier state of the same log. A nil snapshot is the base.
func (s *State) Differs(from *Snapshot) []uint64 {
	if from == nil {
		from = &Snapshot{}
	}
	numbers := slices.Concat(from.own, s.layer.changes[from.changes:])
	for number := range s.over {
		numbers = append(numbers, number)
	}
	slices.Sort(numbers)
	numbers = slices.Compact(numbers)
	return slices.DeleteFunc(numbers, func(n uint64) bool { return s.Page(n) == from.Page(n) })
}

// Page returns the signature of a page, as State.Page does.
func (k *Snapshot) Page(number uint64) Signature {
	p, ok := k.layer.pages[number]
	if !ok {
		return Signature{}
	}
	return p.sum.minus(k.layer.origin[number])
}

// ReadAt reads from the disk. A range that is not on the disk is an error.
func (k *Snapshot) ReadAt(p []byte, off int64) (int, error) {
	return k.layer.readAt(p, off, func(uint64) ([]byte, bool) { return nil, false })
}

// Size returns the size of the disk in bytes.
func (k *Snapshot) Size() uint64 { return k.layer.base.Size() }
