package change

import "fmt"

// Tag says what a Value holds. The zero Tag is Null, so that a zero Value is the absence of a value.
type Tag uint8

const (
	Null Tag = iota // no value: the field or object does not exist on that side
	U64             // an unsigned 64-bit number
	Word            // a word of the schema, such as s_ifdir: see Schema.Words
	Name            // bytes interned in a Names table
	Key             // a key k(ID, KIND, SUB) that names another object
)

// A Value is one side of a change record: 16 bytes, comparable with ==, no pointers. Two values of one
// transaction are the same value exactly if they are ==; names and wide keys are interned in the
// transaction's Names to make that so.
type Value struct {
	n    uint64 // U64: the number; Word, Name: the index; Key: the object id
	ref  uint32 // Key: 0 for SUB 0, else 1 + place in Names.subs
	tag  Tag
	kind Kind // Key: the kind of the object named
}

// Present is the value of FieldObject on a side on which the object exists.
var Present = WordValue(WordPresent)

// Num makes a Value of a number.
func Num(n uint64) Value { return Value{n: n, tag: U64} }

// Bit makes a Value of a flag: 1 or 0.
func Bit(set bool) Value {
	if set {
		return Num(1)
	}
	return Num(0)
}

// WordValue makes a Value of a word of the schema.
func WordValue(w WordID) Value { return Value{n: uint64(w), tag: Word} }

// Tag tells what v holds.
func (v Value) Tag() Tag { return v.tag }

// IsNull tells whether v is the absence of a value.
func (v Value) IsNull() bool { return v.tag == Null }

// Num returns the number of a U64 value; ok is false for any other value.
func (v Value) Num() (n uint64, ok bool) { return v.n, v.tag == U64 }

// Word returns the word of a Word value; ok is false for any other value.
func (v Value) Word() (w WordID, ok bool) { return WordID(v.n), v.tag == Word }

// GoString helps in test failures; users see Schema.ValueText.
func (v Value) GoString() string {
	return fmt.Sprintf("Value{%d %d kind=%d ref=%d}", v.tag, v.n, v.kind, v.ref)
}

// Handle returns the handle of a Name value in its table, as Names.Handle gives it; ok is false for any
// other value.
func (v Value) Handle() (handle uint64, ok bool) { return v.n, v.tag == Name }
