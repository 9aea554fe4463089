package compile

import (
	"fsward/change"
	"fsward/invariants/ruleset"
)

// heldRecords are the records of a stream that goals look up and that the state cannot answer. They
// are few: those of objects of which a file system has some thousands.
type heldRecords struct {
	vocabulary *ruleset.Vocabulary

	lists   []int // the lists that goals look into
	count   map[int]int
	more    map[int]bool // some are not held: there are too many, or they contain names
	records []change.Record
	taken   map[uint32]bool // scratch: the records of the part that are held
}

// maxHeld bounds the records that are held of a list.
const maxHeld = 1 << 14

func newHeldRecords(v *ruleset.Vocabulary, l *recordLists) heldRecords {
	return heldRecords{vocabulary: v, lists: l.held, count: map[int]int{}, more: map[int]bool{},
		taken: map[uint32]bool{}}
}

// take adds the records of a part.
func (h *heldRecords) take(l *recordLists) {
	if len(h.more) == len(h.lists) {
		return
	}
	clear(h.taken)
	for _, n := range h.lists {
		if h.more[n] {
			continue
		}
		for _, at := range l.all(n) {
			r := &l.records[at]
			if h.count[n]++; h.count[n] > maxHeld || h.fleeting(r) {
				h.more[n] = true
				break
			}
			if !h.taken[at] {
				h.taken[at] = true
				h.records = append(h.records, *r)
			}
		}
	}
}

// fleeting reports whether a record lasts only as long as the names of a part: it has a name.
func (h *heldRecords) fleeting(r *change.Record) bool {
	for _, v := range []change.Value{r.Old, r.New} {
		if v.Tag() == change.Name || v.Tag() == change.Key {
			return true
		}
	}
	return h.vocabulary.Shape(r.Object.Kind) == change.ShapeNamed
}

// holds reports whether all records of a list are held.
func (h *heldRecords) holds(list int) bool { return !h.more[list] }
