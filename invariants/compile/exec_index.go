package compile

import (
	"sync"
	"sync/atomic"

	"fsward/change"
	"fsward/invariants/keyhash"
)

// An indexKey is the key by which an index finds records.
type indexKey uint8

const (
	byObjectID  indexKey = iota // ID
	byObjectSub                 // ID and Sub
	byPair                      // ID, Sub and Aux
	byNewValue
	byOldValue
	byIDNewValue // ID and the new value, for example one of thousands of names of an inode
	byIDOldValue
)

// An indexSpec describes an index.
type indexSpec struct {
	list   int
	key    indexKey
	inTree bool // the tree is part of the key
}

// A listIndex is a hash index of a list of records. Most keys have one record, whose index then
// stands in the slot, so that a look-up reads only the slot and that record. Different keys can
// share a hash; the caller compares the records found.
type listIndex struct {
	indexSpec
	built    atomic.Bool // set under building
	building sync.Mutex
	slots    []indexSlot // a power of two, some of them free
	// by position in the list: 1 + the position of the next record with the same hash; empty if no
	// hash is shared
	next []int32
}

// An indexSlot is the entry of an index under a hash.
type indexSlot struct {
	tag uint32 // the upper half of the hash
	// 0 for a free slot; 1 + the index of the only record; or −(1 + the position in the list of the
	// first of several).
	at int32
}

// build fills an index, unless the other worker has filled it. Records with one hash are chained in
// their order.
func (x *listIndex) build(l *recordLists, t *interner) {
	x.building.Lock()
	defer x.building.Unlock()
	if x.built.Load() {
		return
	}
	places := l.all(x.list)
	slots := 8
	for 3*slots < 4*len(places) {
		slots *= 2
	}
	x.slots, x.next = resize(x.slots, slots), x.next[:0]
	clear(x.slots)
	for i := len(places) - 1; i >= 0; i-- {
		h := x.hash(l, t, places[i])
		s := x.slot(h)
		if s.at == 0 {
			*s = indexSlot{uint32(h >> 32), int32(i) + 1}
			continue
		}
		if len(x.next) == 0 {
			x.next = resize(x.next, len(places))
			clear(x.next)
		}
		x.next[i], s.at = max(s.at, -s.at), -int32(i)-1
	}
	for i := range x.slots {
		if s := &x.slots[i]; s.at > 0 {
			s.at = int32(places[s.at-1]) + 1
		}
	}
	x.built.Store(true)
}

// hash returns the hash of the key of a record.
func (x *listIndex) hash(l *recordLists, t *interner, place uint32) uint64 {
	r := &l.records[place]
	switch x.key {
	case byNewValue:
		return hashOf(l.Seeds, t.intern(r.New))
	case byOldValue:
		return hashOf(l.Seeds, t.intern(r.Old))
	case byIDNewValue:
		return l.hashOfID(x.inTree, &r.Object, hashOf(l.Seeds, t.intern(r.New)))
	case byIDOldValue:
		return l.hashOfID(x.inTree, &r.Object, hashOf(l.Seeds, t.intern(r.Old)))
	default:
		return l.hashOfObject(x.key, x.inTree, &r.Object)
	}
}

// hashOfID returns the hash of the id of an object and of a value.
func (l *recordLists) hashOfID(inTree bool, o *change.Object, value uint64) uint64 {
	if inTree {
		value = l.Mix(o.Tree, value)
	}
	return l.Mix(o.ID, value)
}

// hashOfObject returns the hash of the parts of an object that a key has.
func (l *recordLists) hashOfObject(key indexKey, inTree bool, o *change.Object) uint64 {
	rest := uint64(0)
	switch key {
	case byObjectSub:
		rest = o.Sub
	case byPair:
		rest = l.Mix(o.Sub, o.Aux)
	}
	switch {
	case inTree:
		rest = l.Mix(o.Tree, rest)
	case key == byPair:
		return l.Mix(o.ID, rest)
	}
	return l.Near(o.ID, rest)
}

// slot returns the slot of a hash, or the free slot where it belongs.
func (x *listIndex) slot(h uint64) *indexSlot {
	tag, mask := uint32(h>>32), uint64(len(x.slots)-1)
	for i := h & mask; ; i = (i + 1) & mask {
		if s := &x.slots[i]; s.at == 0 || s.tag == tag {
			return s
		}
	}
}

// hashOf returns the hash of a value.
func hashOf(s keyhash.Seeds, c value) uint64 {
	return s.Mix(s.Mix(c.n, uint64(c.tag)<<8|uint64(c.kind)), c.m)
}
