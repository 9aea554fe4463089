package compile

import (
	"fsward/invariants/keyhash"
	"slices"
)

// A memo has the properties that verify/1 found to hold, and the answers of helpers that are called
// under once/1. The words of a key have a fixed meaning for each property.
type memo struct {
	keyhash.Seeds
	slots []uint32 // 1 + start of the entry in words
	// for each entry: the lengths of its key and of its answer, in one word; the key, which is the
	// number of the property and the values of its variables; the answer
	words []uint64
	count int
}

// answerShift is the place of the length of an answer in the first word of an entry.
const answerShift = 32

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
		if n := int(uint32(t.words[at-1])); n == len(key) && slices.Equal(t.words[at:at+n], key) {
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

// answer returns the words that were added with a key. They are valid until the next change.
func (t *memo) answer(key []uint64) (words []uint64, found bool) {
	if t.count == 0 {
		return nil, false
	}
	slot, found := t.place(key)
	if !found {
		return nil, false
	}
	at := int(t.slots[slot])
	from := at + len(key)
	return t.words[from : from+int(t.words[at-1]>>answerShift)], true
}

// maxMemoWords bounds the memory of the set, to 64 MiB and its slots. Properties that do not fit
// are proved again.
const maxMemoWords = 1 << 23

func (t *memo) add(key []uint64, answer ...uint64) {
	if len(t.words)+len(key)+len(answer) >= maxMemoWords {
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
	t.words = append(t.words, uint64(len(key))|uint64(len(answer))<<answerShift)
	t.words = append(append(t.words, key...), answer...)
	t.count++
}

func (t *memo) grow() {
	t.slots = make([]uint32, max(64, 2*len(t.slots)))
	for at := 0; at < len(t.words); {
		n, answer := int(uint32(t.words[at])), int(t.words[at]>>answerShift)
		slot, _ := t.place(t.words[at+1 : at+1+n])
		t.slots[slot] = uint32(at) + 1
		at += 1 + n + answer
	}
}
