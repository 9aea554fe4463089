package change

import (
	"math/bits"
	"math/rand/v2"
)

// A subTable numbers the last parts of keys in the order in which they come. A View makes one for nearly each name that rules ask
// for, in a table that begins empty: a Go map takes several times as long to fill. The hash is seeded, so that a guest cannot choose
// numbers that collide.
type subTable struct {
	seeds [2]uint64
	subs  []uint64
	slots []uint32 // 1 + the place in subs, 0 where it is free; a power of two of them, at most half of them taken
}

func newSubTable() subTable { return subTable{seeds: [2]uint64{rand.Uint64() | 1, rand.Uint64()}} }

// slot returns the slot of a number, or the free one where it belongs.
func (t *subTable) slot(n uint64) int {
	hi, lo := bits.Mul64(n^t.seeds[1], t.seeds[0])
	mask := len(t.slots) - 1
	for i := int(hi^lo) & mask; ; i = (i + 1) & mask {
		if at := t.slots[i]; at == 0 || t.subs[at-1] == n {
			return i
		}
	}
}

// find returns the place of a number; ok is false if it is not there.
func (t *subTable) find(n uint64) (i uint32, ok bool) {
	if len(t.subs) == 0 {
		return 0, false
	}
	at := t.slots[t.slot(n)]
	return at - 1, at != 0
}

// add adds a number that is not there, and returns its place.
func (t *subTable) add(n uint64) (i uint32) {
	if 2*(len(t.subs)+1) > len(t.slots) {
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
