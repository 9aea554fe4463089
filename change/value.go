package change

import "fmt"

// Tag is the type of a Value. The zero Tag is Null, so that the zero Value is the absence of a
// value.
type Tag uint8

const (
	Null Tag = iota // no value: the field or the object does not exist
	U64             // an unsigned 64-bit number
	Word            // a word of the schema, such as s_ifdir: see Schema.Words
	Name            // bytes interned in a Names table
	Key             // a key k(ID, KIND, SUB) that refers to another object
)

// A Value is the old or new value of a change record. It has 16 bytes and no pointers. Two values
// of a transaction are equal if and only if they are ==, because the transaction's Names interns
// names and wide keys.
type Value struct {
	n    uint64 // U64: the number; Word, Name: the index; Key: the object id
	ref  uint32 // Key: 0 if SUB is 0, otherwise 1 + index in Names.subs
	tag  Tag
	kind Kind // Key: the kind of the object
}

// Present is the value of FieldObject if the object exists.
var Present = WordValue(WordPresent)

// Num returns the Value of a number.
func Num(n uint64) Value { return Value{n: n, tag: U64} }

// Bit returns the Value of a flag: 1 or 0.
func Bit(set bool) Value {
	if set {
		return Num(1)
	}
	return Num(0)
}

// WordValue returns the Value of a word of the schema.
func WordValue(w WordID) Value { return Value{n: uint64(w), tag: Word} }

// Tag returns the type of v.
func (v Value) Tag() Tag { return v.tag }

// IsNull reports whether v is the absence of a value.
func (v Value) IsNull() bool { return v.tag == Null }

// Num returns the number of a U64 value; ok is false for any other value.
func (v Value) Num() (n uint64, ok bool) { return v.n, v.tag == U64 }

// Word returns the word of a Word value; ok is false for any other value.
func (v Value) Word() (w WordID, ok bool) { return WordID(v.n), v.tag == Word }

// GoString returns a text for test failures. Users see Schema.ValueText.
func (v Value) GoString() string {
	return fmt.Sprintf("Value{%d %d kind=%d ref=%d}", v.tag, v.n, v.kind, v.ref)
}

// Handle returns the handle of a Name value as Names.Handle does. ok is false for any other value.
func (v Value) Handle() (handle uint64, ok bool) { return v.n, v.tag == Name }
