package invariants

import "fsward/change"

// A listSpec names a list of the records of a transaction: those of a kind and a field, or all of either.
type listSpec struct {
	kind     change.Kind // 0: any
	field    change.Field
	anyField bool
}

// all tells whether the list has every record, and needs none of its own.
func (s listSpec) all() bool { return s.kind == 0 && s.anyField }

// recordLists sorts the records of a transaction into the lists that programs ask for, in one pass, and
// keeps indexes of them. Lists and indexes are declared when programs are compiled; a list is filled when a
// transaction begins, an index when a program first looks something up in it.
type recordLists struct {
	seeds
	specs   []listSpec
	byPlace [256][]listsOf // by kind: the lists that its records are in
	filled  [][]uint32     // by list: places of records
	indexes []recordIndexOf
	records []change.Record
}

// listsOf are the lists of the records of one kind and field.
type listsOf []int32

// list declares a list and returns its number.
func (l *recordLists) list(s listSpec) int {
	for i, have := range l.specs {
		if have == s {
			return i
		}
	}
	l.specs = append(l.specs, s)
	l.filled = append(l.filled, nil)
	i := int32(len(l.specs) - 1)
	if s.all() {
		return int(i)
	}
	for k := range l.byPlace {
		if s.kind != 0 && int(s.kind) != k {
			continue
		}
		if l.byPlace[k] == nil {
			l.byPlace[k] = make([]listsOf, 256)
		}
		for f := range l.byPlace[k] {
			if s.anyField || int(s.field) == f {
				l.byPlace[k][f] = append(l.byPlace[k][f], i)
			}
		}
	}
	return int(i)
}

// maxKept bounds the records for which a list keeps its memory until the next transaction.
const maxKept = 1 << 18

// begin fills the lists.
func (l *recordLists) begin(records []change.Record) {
	l.records = records
	for n := range l.filled {
		l.filled[n] = l.filled[n][:0]
	}
	for i := range records {
		r := &records[i]
		if of := l.byPlace[r.Object.Kind]; of != nil {
			for _, n := range of[r.Field] {
				l.filled[n] = append(l.filled[n], uint32(i))
			}
		}
	}
	for i := range l.indexes {
		l.indexes[i].built = false
	}
}

func (l *recordLists) end() {
	l.records = nil
	for n := range l.filled {
		if cap(l.filled[n]) > maxKept {
			l.filled[n] = nil
		}
	}
	for i := range l.indexes {
		if x := &l.indexes[i]; cap(x.next) > maxKept {
			x.next, x.slots = nil, nil
		}
	}
}

// size returns the number of records in a list.
func (l *recordLists) size(list int) int {
	if l.specs[list].all() {
		return len(l.records)
	}
	return len(l.filled[list])
}

// record returns a record of a list.
func (l *recordLists) record(list, i int) *change.Record {
	if l.specs[list].all() {
		return &l.records[i]
	}
	return &l.records[l.filled[list][i]]
}

// indexKey says by what an index finds records.
type indexKey uint8

const (
	byObjectID  indexKey = iota // ID
	byObjectSub                 // ID and Sub
	byNewValue
	byOldValue
	byIDNewValue // ID and the new value: one of thousands of names of an inode, say
	byIDOldValue
)

// recordIndexOf is a hash index of a list: by the hash of the key, the places in the list. Whoever asks
// compares the records found, as different keys can share a hash.
type recordIndexOf struct {
	list  int
	key   indexKey
	built bool
	slots []int32 // 1 + the first place with such a hash
	next  []int32 // by place: 1 + the next one
}

// index declares an index and returns its number.
func (l *recordLists) index(list int, key indexKey) int {
	for i := range l.indexes {
		if l.indexes[i].list == list && l.indexes[i].key == key {
			return i
		}
	}
	l.indexes = append(l.indexes, recordIndexOf{list: list, key: key})
	return len(l.indexes) - 1
}

// build fills an index; places are chained in their order.
func (x *recordIndexOf) build(l *recordLists, t *terms) {
	n := l.size(x.list)
	slots := 8
	for slots < n {
		slots *= 2
	}
	if cap(x.slots) < slots {
		x.slots = make([]int32, slots)
	}
	x.slots = x.slots[:slots]
	clear(x.slots)
	x.next = resize(x.next, n)
	for i := n - 1; i >= 0; i-- {
		r := l.record(x.list, i)
		var h uint64
		switch x.key {
		case byObjectID:
			h = l.mix(r.Object.ID, 0)
		case byObjectSub:
			h = l.mix(r.Object.ID, r.Object.Sub)
		case byNewValue:
			h = l.cell(t.value(r.New))
		case byOldValue:
			h = l.cell(t.value(r.Old))
		case byIDNewValue:
			h = l.mix(r.Object.ID, l.cell(t.value(r.New)))
		case byIDOldValue:
			h = l.mix(r.Object.ID, l.cell(t.value(r.Old)))
		}
		slot := h & uint64(slots-1)
		x.next[i] = x.slots[slot]
		x.slots[slot] = int32(i) + 1
	}
	x.built = true
}

// first returns 1 + the first place with a hash, 0 if there is none.
func (x *recordIndexOf) first(h uint64) int32 { return x.slots[h&uint64(len(x.slots)-1)] }

// reverseIndex finds the objects of one id and kind, such as the entries of a directory, by the value of a
// field. A directory is read once, when the first such question about it comes.
type reverseIndex struct {
	seeds
	read    map[reverseKey]struct{}
	first   map[uint64]int32 // by hash: 1 + the entry that came last
	entries []reverseEntry
}

type reverseEntry struct {
	key    reverseKey
	object change.Object
	value  cell
	next   int32
}

func (x *reverseIndex) reset() {
	if len(x.entries) > maxKept {
		x.read, x.first, x.entries = nil, nil, nil
		return
	}
	clear(x.read)
	clear(x.first)
	x.entries = x.entries[:0]
}

func (x *reverseIndex) hash(k reverseKey, v cell) uint64 {
	return x.mix(x.mix(k.tree, k.id), x.mix(uint64(k.kind)<<8|uint64(k.field), x.cell(v)))
}

func (x *reverseIndex) add(k reverseKey, o change.Object, v cell) {
	h := x.hash(k, v)
	x.entries = append(x.entries, reverseEntry{k, o, v, x.first[h]})
	x.first[h] = int32(len(x.entries))
}
