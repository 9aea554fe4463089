package compile

import (
	"fsward/invariants/keyhash"
	"slices"
)

// A memo is the set of properties that verify/1 found to hold. The words of a key have a fixed
// meaning for each property.
type memo struct {
	keyhash.Seeds
	slots []uint32 // 1 + start of the entry in words
	// for each entry: its length, the number of the property, the values of its variables
	words []uint64
	count int
}

func (t *memo) reset() {
	if len(t.slots) > 1<<20 {
		*t = memo{Seeds: t.Seeds}
		return
	}
	clear(t.slots)
	t.words, t.count = t.words[:0], 0
}

// place returns the slot of a key, or the empty slot where it belongs.
func (t *memo) place(key []uint64) (slot int, found bool) {
	h, i := uint64(len(key)), 1
	for ; i < len(key); i += 2 {
		h = t.Mix(h^key[i-1], key[i])
	}
	if i == len(key) {
		h = t.Mix(h, key[i-1])
	}
	mask := len(t.slots) - 1
	for i := int(h) & mask; ; i = (i + 1) & mask {
		at := int(t.slots[i])
		if at == 0 {
			return i, false
		}
		if t.words[at-1] == uint64(len(key)) && slices.Equal(t.words[at:at+len(key)], key) {
			return i, true
		}
	}
}

func (t *memo) has(key []uint64) bool {
	if t.count == 0 {
		return false
	}
	_, found := t.place(key)
	return found
}

// maxMemoWords bounds the memory of the set, to 64 MiB and its slots. Properties that do not fit
// are proved again.
const maxMemoWords = 1 << 23

func (t *memo) add(key []uint64) {
	if len(t.words)+len(key) >= maxMemoWords {
		return
	}
	if 2*(t.count+1) > len(t.slots) {
		t.grow()
	}
	slot, found := t.place(key)
	if found {
		return
	}
	t.slots[slot] = uint32(len(t.words)) + 1
	t.words = append(append(t.words, uint64(len(key))), key...)
	t.count++
}

func (t *memo) grow() {
	t.slots = make([]uint32, max(64, 2*len(t.slots)))
	for at := 0; at < len(t.words); at += 1 + int(t.words[at]) {
		slot, _ := t.place(t.words[at+1 : at+1+int(t.words[at])])
		t.slots[slot] = uint32(at) + 1
	}
}
