package compile

import "fsward/change"

// heldRecords are the records of a stream that goals look up by what the state does not answer. They are few: those
// of objects of which a file system has some thousands.
type heldRecords struct {
	lists   []int // that are asked for so
	count   map[int]int
	gone    map[int]bool // there are too many, or they have names
	records []change.Record
}

// maxHeld bounds the records of a list that are held.
const maxHeld = 1 << 14

func newHeldRecords(l *recordLists) heldRecords {
	return heldRecords{lists: l.held, count: map[int]int{}, gone: map[int]bool{}}
}

// take keeps records of a part.
func (h *heldRecords) take(l *recordLists) {
	taken := map[uint32]bool{}
	for _, n := range h.lists {
		if h.gone[n] {
			continue
		}
		for _, at := range l.all(n) {
			r := &l.records[at]
			if h.count[n]++; h.count[n] > maxHeld || r.New.Tag() == change.Name || r.New.Tag() == change.Key {
				h.gone[n] = true
				break
			}
			if !taken[at] {
				taken[at] = true
				h.records = append(h.records, *r)
			}
		}
	}
}

// holds tells whether all records of a list are held.
func (h *heldRecords) holds(list int) bool { return !h.gone[list] }
