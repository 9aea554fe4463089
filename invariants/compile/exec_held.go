package compile

import "fsward/change"

// heldRecords are the records of a stream that goals look up and that the state cannot answer. They
// are few: those of objects of which a file system has some thousands.
type heldRecords struct {
	lists   []int // the lists that goals look into
	count   map[int]int
	gone    map[int]bool // there are too many, or they contain names
	records []change.Record
	taken   map[uint32]bool // scratch: the records of the part that are held
}

// maxHeld bounds the records that are held of a list.
const maxHeld = 1 << 14

func newHeldRecords(l *recordLists) heldRecords {
	return heldRecords{lists: l.held, count: map[int]int{}, gone: map[int]bool{},
		taken: map[uint32]bool{}}
}

// take adds the records of a part.
func (h *heldRecords) take(l *recordLists) {
	if len(h.gone) == len(h.lists) {
		h.records = nil
		return
	}
	clear(h.taken)
	for _, n := range h.lists {
		if h.gone[n] {
			continue
		}
		for _, at := range l.all(n) {
			r := &l.records[at]
			if h.count[n]++; h.count[n] > maxHeld || fleeting(r.Old) || fleeting(r.New) {
				h.gone[n] = true
				break
			}
			if !h.taken[at] {
				h.taken[at] = true
				h.records = append(h.records, *r)
			}
		}
	}
}

// fleeting reports whether a value lasts only as long as the names of a part.
func fleeting(v change.Value) bool { return v.Tag() == change.Name || v.Tag() == change.Key }

// holds reports whether all records of a list are held.
func (h *heldRecords) holds(list int) bool { return !h.gone[list] }
