package change

// Names interns the byte strings (file names) and wide keys of one transaction and of the View that
// goes with it, so that values compare with ==. It grows with the transaction and is emptied by Reset.
// The Go map beneath is seeded, so a guest cannot choose names that collide. Not safe for concurrent use.
type Names struct {
	index map[string]uint32
	names []string
	subs  subTable
	bytes uint64

	emptied uint64

	base                *Names // of a fork; nil for others
	baseNames, baseSubs uint32 // how many it has
}

// NewNames returns an empty table.
func NewNames() *Names {
	return &Names{index: make(map[string]uint32), subs: newSubTable()}
}

// Fork returns a table that has what this one has, and to which more can be added beside other forks of it. This one
// may not be added to as long as forks are in use. A value that only a fork made is the same in no other.
func (t *Names) Fork() *Names {
	f := NewNames()
	f.base, f.baseNames, f.baseSubs = t, uint32(t.Len()), t.baseSubs+uint32(len(t.subs.subs))
	return f
}

// Reset empties the table and keeps its memory, unless that is much: emptying it would cost every later
// transaction. Values made from it before are no longer valid.
func (t *Names) Reset() {
	emptied := t.emptied + 1
	if len(t.names)+len(t.subs.subs) > maxKeptNames { // a map keeps the room that it once had
		*t = *NewNames()
		t.emptied = emptied
		return
	}
	t.emptied = emptied
	clear(t.index)
	t.names = t.names[:0]
	t.subs.reset()
	t.bytes = 0
	t.base, t.baseNames, t.baseSubs = nil, 0, 0
}

// Emptied returns how often Reset was called: whoever keeps values beyond one use can tell that they are no longer valid.
func (t *Names) Emptied() uint64 { return t.emptied }

// maxKeptNames is for how many names Reset keeps the memory.
const maxKeptNames = 1 << 17

// nameBytes is what a name takes beside its bytes: two headers of a string, and its place in the index.
const nameBytes = 64

// Bytes is about how much memory the names take.
func (t *Names) Bytes() uint64 { return t.bytes }

// Len returns the number of distinct names held.
func (t *Names) Len() int { return int(t.baseNames) + len(t.names) }

// name finds the index of a name.
func (t *Names) name(b []byte) (i uint32, ok bool) {
	if t.base != nil {
		if i, ok = t.base.name(b); ok {
			return i, true
		}
	}
	i, ok = t.index[string(b)]
	return i, ok
}

// Intern returns the Value for a name. b is copied when it is new.
func (t *Names) Intern(b []byte) Value {
	i, ok := t.name(b)
	if !ok {
		i = t.add(string(b))
	}
	return Value{n: uint64(i), tag: Name}
}

// add adds a name that is not there yet.
func (t *Names) add(s string) (i uint32) {
	i = uint32(t.Len())
	t.names = append(t.names, s)
	t.bytes += uint64(len(s)) + nameBytes
	t.index[s] = i
	return i
}

// Text returns the bytes of a Name value, or "" if v is none of this table's.
func (t *Names) Text(v Value) string {
	if v.tag != Name {
		return ""
	}
	return t.At(v.n)
}

// At returns the name with a handle as Handle gives it, or "" if there is none.
func (t *Names) At(handle uint64) string {
	switch own := handle - uint64(t.baseNames); {
	case handle >= uint64(t.Len()):
		return ""
	case handle < uint64(t.baseNames):
		return t.base.At(handle)
	default:
		return t.names[own]
	}
}

// Handle interns a name and returns its number in this table: what an Object holds whose identifier
// has a name in it (ShapeNamed).
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

// subAt returns the last part of a key by its index; 0 if there is none.
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

// refOf interns the last part of a key, and returns what a Value has of it.
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
