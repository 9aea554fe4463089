package change

// Names interns the byte strings (file names) and wide keys of one transaction and of its View, so
// that equal values are ==. It grows with the transaction; Reset empties it. It is not safe for
// concurrent use.
type Names struct {
	names nameTable
	subs  subTable
	bytes uint64 // see Bytes

	emptied uint64 // number of calls of Reset

	base                *Names // the table that this one is a fork of, or nil
	baseNames, baseSubs uint32 // numbers of names and of last parts of keys in base
}

// NewNames returns an empty table.
func NewNames() *Names {
	return &Names{names: newNameTable(), subs: newSubTable()}
}

// Fork returns a table that contains the names and keys of t. Several forks can be used
// concurrently, and each adds its own names and keys. Nothing may be added to t while its forks are
// in use. A value that a fork has added is valid in that fork only.
func (t *Names) Fork() *Names {
	f := NewNames()
	f.base, f.baseNames, f.baseSubs = t, uint32(t.Len()), t.baseSubs+uint32(len(t.subs.subs))
	return f
}

// Reset empties the table. Values made from it before are no longer valid. Reset keeps the memory
// unless the table is large: clearing all slots would slow down every later transaction.
func (t *Names) Reset() {
	emptied := t.emptied + 1
	if len(t.names.entries)+len(t.subs.subs) > maxKeptNames {
		*t = *NewNames()
		t.emptied = emptied
		return
	}
	t.emptied = emptied
	t.names.reset()
	t.subs.reset()
	t.bytes = 0
	t.base, t.baseNames, t.baseSubs = nil, 0, 0
}

// Emptied returns the number of calls of Reset. A caller that keeps values compares it to find out
// whether they are still valid.
func (t *Names) Emptied() uint64 { return t.emptied }

// maxKeptNames is the largest number of names and keys for which Reset keeps the memory.
const maxKeptNames = 1 << 17

// nameBytes is the memory in bytes that a name takes besides its text: its entry, and up to four
// slots, with the room that growing slices leave.
const nameBytes = 48

// Bytes returns the approximate memory of the names in bytes, without those of the base.
func (t *Names) Bytes() uint64 { return t.bytes }

// Len returns the number of distinct names, with those of the base.
func (t *Names) Len() int { return int(t.baseNames) + len(t.names.entries) }

// name finds the index of a name.
func (t *Names) name(b []byte) (i uint32, ok bool) {
	if t.base != nil {
		if i, ok = t.base.name(b); ok {
			return i, true
		}
	}
	i, ok = t.names.find(b)
	return t.baseNames + i, ok
}

// Intern returns the Value for a name. It copies b if the name is new.
func (t *Names) Intern(b []byte) Value {
	i, ok := t.name(b)
	if !ok {
		i = t.add(b)
	}
	return Value{n: uint64(i), tag: Name}
}

// add adds a name that the table does not contain, and returns its index.
func (t *Names) add(b []byte) (i uint32) {
	t.bytes += uint64(len(b)) + nameBytes
	return t.baseNames + t.names.add(b)
}

// Text returns the text of a Name value, or "" if the table does not contain it.
func (t *Names) Text(v Value) string {
	if v.tag != Name {
		return ""
	}
	return t.At(v.n)
}

// At returns the name with a handle that Handle returned, or "" if there is none.
func (t *Names) At(handle uint64) string {
	switch own := handle - uint64(t.baseNames); {
	case handle >= uint64(t.Len()):
		return ""
	case handle < uint64(t.baseNames):
		return t.base.At(handle)
	default:
		return t.names.at(uint32(own))
	}
}

// Handle interns a name and returns its index in the table. Objects whose identifier contains a
// name (ShapeNamed) store it.
func (t *Names) Handle(b []byte) uint64 { return t.Intern(b).n }

// sub finds the index of the last part of a key.
func (t *Names) sub(n uint64) (i uint32, ok bool) {
	if t.base != nil {
		if i, ok = t.base.sub(n); ok {
			return i, true
		}
	}
	i, ok = t.subs.find(n)
	return t.baseSubs + i, ok
}

// subAt returns the last part of a key by its index, or 0 if there is none.
func (t *Names) subAt(i uint32) uint64 {
	switch own := i - t.baseSubs; {
	case i < t.baseSubs:
		return t.base.subAt(i)
	case int(own) < len(t.subs.subs):
		return t.subs.subs[own]
	default:
		return 0
	}
}

// Key returns the Value for the key k(id, kind, sub).
func (t *Names) Key(id uint64, kind Kind, sub uint64) Value {
	v := Value{n: id, tag: Key, kind: kind}
	if sub == 0 {
		return v
	}
	v.ref = t.refOf(sub)
	return v
}

// refOf interns the last part of a key and returns the Value.ref for it.
func (t *Names) refOf(sub uint64) uint32 {
	i, ok := t.sub(sub)
	if !ok {
		i = t.baseSubs + t.subs.add(sub)
	}
	return i + 1
}

// KeyOf returns the parts of a Key value; ok is false for any other value.
func (t *Names) KeyOf(v Value) (id uint64, kind Kind, sub uint64, ok bool) {
	if v.tag != Key {
		return 0, 0, 0, false
	}
	if v.ref != 0 {
		sub = t.subAt(v.ref - 1)
	}
	return v.n, v.kind, sub, true
}
