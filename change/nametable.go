package change

import (
	"hash/maphash"
	"strings"
)

// A nameTable is a hash table that interns byte strings and numbers them in the order of their
// insertion. The text is in a few large blocks, and nothing else has pointers: a table of a quarter
// of a million names takes the garbage collector no time. The hash is seeded, so that a guest
// cannot choose names that collide.
type nameTable struct {
	seed    maphash.Seed
	entries []nameEntry
	slots   []uint32 // 1 + index in entries, or 0 for a free slot; the length is a power of two
	blocks  []*strings.Builder
}

// A nameEntry is the hash of a name and its place.
type nameEntry struct{ hash, block, off, size uint32 }

// Sizes of the blocks of text. Each is twice as large as the one before, up to maxNameBlock. A
// longer name has a block of its own.
const (
	minNameBlock = 1 << 10
	maxNameBlock = 1 << 16
)

func newNameTable() nameTable { return nameTable{seed: maphash.MakeSeed()} }

// at returns the name with an index. It stays valid when the table is emptied.
func (t *nameTable) at(i uint32) string {
	e := &t.entries[i]
	return t.blocks[e.block].String()[e.off : e.off+e.size]
}

func (t *nameTable) hash(b []byte) uint32 { return uint32(maphash.Bytes(t.seed, b)) }

// find returns the index of a name. ok is false if the table does not contain it.
func (t *nameTable) find(b []byte) (i uint32, ok bool) {
	if len(t.entries) == 0 {
		return 0, false
	}
	h, mask := t.hash(b), uint32(len(t.slots)-1)
	for s := h & mask; ; s = (s + 1) & mask {
		at := t.slots[s]
		if at == 0 {
			return 0, false
		}
		if t.entries[at-1].hash == h && t.at(at-1) == string(b) {
			return at - 1, true
		}
	}
}

// add adds a name that the table does not contain, and returns its index.
func (t *nameTable) add(b []byte) (i uint32) {
	if 2*(len(t.entries)+1) > len(t.slots) { // at most half of the slots are in use
		t.slots = make([]uint32, max(16, 2*len(t.slots)))
		for i := range t.entries {
			t.place(uint32(i))
		}
	}
	block := t.blockFor(len(b))
	t.entries = append(t.entries, nameEntry{hash: t.hash(b), block: block,
		off: uint32(t.blocks[block].Len()), size: uint32(len(b))})
	t.blocks[block].Write(b)
	i = uint32(len(t.entries) - 1)
	t.place(i)
	return i
}

// place puts an entry into a free slot.
func (t *nameTable) place(i uint32) {
	mask := uint32(len(t.slots) - 1)
	s := t.entries[i].hash & mask
	for t.slots[s] != 0 {
		s = (s + 1) & mask
	}
	t.slots[s] = i + 1
}

// blockFor returns the index of a block with space for n bytes. A block never grows, so that the
// strings of at keep their bytes.
func (t *nameTable) blockFor(n int) (block uint32) {
	size := minNameBlock
	if last := len(t.blocks) - 1; last >= 0 {
		if b := t.blocks[last]; b.Len()+n <= b.Cap() {
			return uint32(last)
		}
		size = min(2*t.blocks[last].Cap(), maxNameBlock)
	}
	b := &strings.Builder{}
	b.Grow(max(size, n))
	t.blocks = append(t.blocks, b)
	return uint32(len(t.blocks) - 1)
}

// reset empties the table. It keeps the memory of the entries, and not the text, which strings may
// still refer to.
func (t *nameTable) reset() {
	clear(t.slots)
	t.entries = t.entries[:0]
	t.blocks = nil
}
