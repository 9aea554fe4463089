package compile

import (
	"fsward/change"
	"fsward/invariants/keyhash"
	"fsward/invariants/reference"
)

// A reverseIndex finds the objects of one id and kind, such as the entries of a directory, by the
// value of a field. The first such question about a directory reads all of it.
type reverseIndex struct {
	keyhash.Seeds
	read    map[reference.ReverseKey]struct{}
	first   map[uint64]int32 // by hash: 1 + the latest entry
	entries []reverseEntry
	groups  int // of the sets, those of objects with one key
}

type reverseEntry struct {
	key    reference.ReverseKey
	object change.Object
	value  value
	next   int32
}

func newReverseIndex(seeds keyhash.Seeds) reverseIndex {
	return reverseIndex{Seeds: seeds, read: map[reference.ReverseKey]struct{}{},
		first: map[uint64]int32{}}
}

func (x *reverseIndex) reset() {
	if len(x.entries) > maxKept {
		*x = newReverseIndex(x.Seeds)
		return
	}
	clear(x.read)
	clear(x.first)
	x.entries, x.groups = x.entries[:0], 0
}

func (x *reverseIndex) hash(k reference.ReverseKey, v value) uint64 {
	object := x.Mix(k.Tree, k.ID)
	if k.OfSub {
		object = x.Mix(object, k.Sub)
	}
	return x.Mix(object, x.Mix(uint64(k.Kind)<<8|uint64(k.Field), hashOf(x.Seeds, v)))
}

// truncate removes the entries from n on.
func (x *reverseIndex) truncate(n int) {
	for i := len(x.entries) - 1; i >= n; i-- {
		e := &x.entries[i]
		x.first[x.hash(e.key, e.value)] = e.next
	}
	x.entries = x.entries[:n]
}

func (x *reverseIndex) add(k reference.ReverseKey, o change.Object, v value) {
	h := x.hash(k, v)
	x.entries = append(x.entries, reverseEntry{k, o, v, x.first[h]})
	x.first[h] = int32(len(x.entries))
}
