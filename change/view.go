package change

import "iter"

// A View is the state after the transaction, which the query primitives of rules read (thesis 3.3.5).
// Every method may have to read the disk; an error means that the answer is not known, and makes the
// verdict Undecided, never Holds. Names in the values are interned in the transaction's Names.
// A View is valid as long as its Txn and is used by one goroutine.
type View interface {
	// Get returns the value of a field of an object; ok is false if there is no such object, or no
	// such field in it.
	Get(o Object, f Field) (v Value, ok bool, err error)
	// Values is Get for several fields of one object: values[i] becomes the value of fields[i], Null
	// where there is no such object or no such field in it. FieldObject is not among the fields.
	Values(o Object, fields []Field, values []Value) error
	// Exists tells whether there is such an object.
	Exists(o Object) (bool, error)
	// Scan yields the objects from lo to hi, both included, in order. It stops at the first error.
	// lo and hi are of one Tree. For a file system whose objects are ordered by kind first (ext3),
	// they are of one Kind as well.
	Scan(lo, hi Object) iter.Seq2[Object, error]
	// ScanDown yields the same objects in the reverse order, from hi to lo.
	ScanDown(lo, hi Object) iter.Seq2[Object, error]
	// Previous returns the nearest object before o that has a key of its own in o's tree; ok is false
	// if there is none. Objects that share a key of the tree with others (back references inside an
	// extent item) are passed over, as is every other object in o's own key.
	Previous(o Object) (p Object, ok bool, err error)
	// Next is Previous in the other direction.
	Next(o Object) (n Object, ok bool, err error)
}

// A Walker is a View that goes through objects without an iterator for each question.
type Walker interface {
	View
	// Walk yields what Scan does.
	Walk(lo, hi Object, yield func(Object, error) bool)
}

// A Forker is a View that several goroutines can ask at once, each a fork of its own.
type Forker interface {
	View
	// Fork returns a View of the same state, whose values are interned in a fork of the transaction's Names.
	Fork(names *Names) View
}
