package compile

import (
	"math"
	"slices"
	"sync"
	"sync/atomic"

	"fsward/change"
	"fsward/invariants/keyhash"
)

// A side is the requirement of a list on one side of a record: the value before or after.
type side uint8

const (
	anySide  side = iota
	isNull        // there is no value
	hasValue      // there is one
)

func (s side) wants(null bool) bool { return s == anySide || (s == isNull) == null }

// A listSpec describes a list of the records of a transaction: those of a kind and a field, or of
// either.
type listSpec struct {
	kind     change.Kind // 0 for any
	field    change.Field
	anyField bool
	old, new side
}

const classCount = 1 << 18

// recordClass returns the class of a record, which determines its lists: its kind, its field, and
// which sides have a value.
func recordClass(k change.Kind, f change.Field, oldNull, newNull bool) uint32 {
	class := uint32(k)<<10 | uint32(f)<<2
	if oldNull {
		class |= 2
	}
	if newNull {
		class |= 1
	}
	return class
}

// classes calls f for each class of records in the list.
func (s listSpec) classes(f func(class uint32)) {
	kinds, fields := [2]int{0, math.MaxUint8}, [2]int{0, math.MaxUint8}
	if s.kind != 0 {
		kinds = [2]int{int(s.kind), int(s.kind)}
	}
	if !s.anyField {
		fields = [2]int{int(s.field), int(s.field)}
	}
	for kind := kinds[0]; kind <= kinds[1]; kind++ {
		for field := fields[0]; field <= fields[1]; field++ {
			for sides := range 4 {
				oldNull, newNull := sides&2 != 0, sides&1 != 0
				if s.old.wants(oldNull) && s.new.wants(newNull) {
					f(recordClass(change.Kind(kind), change.Field(field), oldNull, newNull))
				}
			}
		}
	}
}

// A listTable says which records belong to which lists. One look-up by class finds all lists of a
// record, so a record that no rule needs costs nothing else, and the number of rules does not
// matter. Programs have one, and machines read it.
type listTable struct {
	specs  []listSpec
	groups []uint32  // by class: the group of lists for its records; nil before the first list
	of     [][]int32 // by group; group 0 has no lists
}

// A triggerIndex sorts records into the lists of a table.
type triggerIndex struct {
	table   *listTable
	lists   [][]uint32 // indexes of records
	used    [][]int32  // table.of, without the lists that nobody needs now
	room    [][]int32  // memory for used
	matches [batchSize]match
}

func newTriggerIndex(t *listTable) triggerIndex {
	return triggerIndex{table: t, lists: make([][]uint32, len(t.specs)), used: t.of}
}

// A match is a record that is in some list.
type match struct{ place, group uint32 }

// declare declares a list and returns its number.
func (s *listTable) declare(spec listSpec) int {
	for i, have := range s.specs {
		if have == spec {
			return i
		}
	}
	if s.groups == nil {
		s.groups, s.of = make([]uint32, classCount), make([][]int32, 1)
	}
	n := len(s.specs)
	s.specs = append(s.specs, spec)
	longer := map[uint32]uint32{} // groups with the new list added
	spec.classes(func(class uint32) {
		g, ok := longer[s.groups[class]]
		if !ok {
			g = uint32(len(s.of))
			s.of = append(s.of, append(slices.Clone(s.of[s.groups[class]]), int32(n)))
			longer[s.groups[class]] = g
		}
		s.groups[class] = g
	})
	return n
}

// use selects the lists that are needed from now on; the others stay empty.
func (s *triggerIndex) use(needed []bool) {
	s.room = resize(s.room, len(s.table.of))
	s.used = s.room
	for g, lists := range s.table.of {
		s.used[g] = s.used[g][:0]
		for _, n := range lists {
			if needed[n] {
				s.used[g] = append(s.used[g], n)
			}
		}
	}
}

// fill sorts the records between two indexes into the lists.
func (s *triggerIndex) fill(records []change.Record, from, to int) {
	for n := range s.lists {
		s.lists[n] = s.lists[n][:0]
	}
	if s.table.groups == nil {
		return
	}
	for ; from < to; from += batchSize {
		s.sort(records[from:min(from+batchSize, to)], from)
	}
}

// sort sorts at most batchSize records into the lists. It first finds the records that are in any
// list: most are in none, and a loop that does nothing else is as fast as memory.
func (s *triggerIndex) sort(records []change.Record, from int) {
	groups := (*[classCount]uint32)(s.table.groups)
	n := 0
	for i := range records {
		r := &records[i]
		class := recordClass(r.Object.Kind, r.Field, r.Old.IsNull(), r.New.IsNull())
		if g := groups[class&(classCount-1)]; g != 0 {
			s.matches[n&(batchSize-1)] = match{uint32(from + i), g}
			n++
		}
	}
	for _, h := range s.matches[:n] {
		for _, list := range s.used[h.group] {
			s.lists[list] = append(s.lists[list], h.place)
		}
	}
}

// list returns the indexes of the records in a list.
func (s *triggerIndex) list(n int) []uint32 { return s.lists[n] }

// hasAny reports whether one of some lists has a record.
func (s *triggerIndex) hasAny(lists []int) bool {
	for _, n := range lists {
		if len(s.lists[n]) > 0 {
			return true
		}
	}
	return false
}

// recordLists holds the records of a transaction in the lists in which programs look up changes,
// and indexes of these lists. Workers share them: what one builds, the other finds.
type recordLists struct {
	keyhash.Seeds
	whole   triggerIndex // filled when a program first looks something up
	filled  atomic.Bool  // set under filling
	filling sync.Mutex
	indexes []*listIndex
	records []change.Record
	held    []int // layout.held
}

func newRecordLists(l *layout) *recordLists {
	lists := &recordLists{Seeds: keyhash.New(), whole: newTriggerIndex(&l.whole), held: l.held}
	for _, x := range l.indexes {
		lists.indexes = append(lists.indexes, &listIndex{indexSpec: x})
	}
	return lists
}

// maxKept bounds the records for which a list keeps its memory until the next transaction.
const maxKept = 1 << 18

func (l *recordLists) begin(records []change.Record) {
	l.records = records
	l.filled.Store(false)
	for _, x := range l.indexes {
		x.built.Store(false)
	}
}

func (l *recordLists) end() {
	l.records = nil
	for n := range l.whole.lists {
		if cap(l.whole.lists[n]) > maxKept {
			l.whole.lists[n] = nil
		}
	}
	for _, x := range l.indexes {
		if cap(x.slots) > 2*maxKept {
			x.next, x.slots = nil, nil
		}
	}
}

// all returns the indexes of the records in a list of the whole transaction.
func (l *recordLists) all(list int) []uint32 {
	if !l.filled.Load() {
		l.filling.Lock()
		if !l.filled.Load() {
			l.whole.fill(l.records, 0, len(l.records))
			l.filled.Store(true)
		}
		l.filling.Unlock()
	}
	return l.whole.list(list)
}

// fillParallel fills the lists by two goroutines, each with half of the records.
func (l *recordLists) fillParallel() {
	second := newTriggerIndex(l.whole.table)
	middle := len(l.records) / 2
	var wg sync.WaitGroup
	wg.Go(func() { second.fill(l.records, middle, len(l.records)) })
	l.whole.fill(l.records, 0, middle)
	wg.Wait()
	for n, places := range second.lists {
		l.whole.lists[n] = append(l.whole.lists[n], places...)
	}
	l.filled.Store(true)
}
