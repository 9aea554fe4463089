package change

import (
	"math/bits"
	"math/rand/v2"
)

// A subTable is a hash table that interns the last parts of keys. It numbers them in the order of
// their insertion. A View inserts one for nearly every name that rules look up, into a table that
// begins empty; a Go map would take several times as long to fill. The hash is seeded, so that a
// guest cannot choose numbers that collide.
type subTable struct {
	seeds [2]uint64
	subs  []uint64
	slots []uint32 // 1 + index in subs, or 0 for a free slot; the length is a power of two
}

func newSubTable() subTable { return subTable{seeds: [2]uint64{rand.Uint64() | 1, rand.Uint64()}} }

// slot returns the slot of a number, or the free slot for it.
func (t *subTable) slot(n uint64) int {
	hi, lo := bits.Mul64(n^t.seeds[1], t.seeds[0])
	mask := len(t.slots) - 1
	for i := int(hi^lo) & mask; ; i = (i + 1) & mask {
		if at := t.slots[i]; at == 0 || t.subs[at-1] == n {
			return i
		}
	}
}

// find returns the index of a number. ok is false if the table does not contain it.
func (t *subTable) find(n uint64) (i uint32, ok bool) {
	if len(t.subs) == 0 {
		return 0, false
	}
	at := t.slots[t.slot(n)]
	return at - 1, at != 0
}

// add adds a number that the table does not contain, and returns its index.
func (t *subTable) add(n uint64) (i uint32) {
	if 2*(len(t.subs)+1) > len(t.slots) { // at most half of the slots are in use
		t.slots = make([]uint32, max(16, 2*len(t.slots)))
		for i, have := range t.subs {
			t.slots[t.slot(have)] = uint32(i) + 1
		}
	}
	slot := t.slot(n)
	t.subs = append(t.subs, n)
	t.slots[slot] = uint32(len(t.subs))
	return uint32(len(t.subs) - 1)
}

func (t *subTable) reset() {
	clear(t.slots)
	t.subs = t.subs[:0]
}
