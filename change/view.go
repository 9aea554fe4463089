package change

import "iter"

// A View is the state of the file system after the transaction. The query primitives of rules read
// it (thesis 3.3.5). All methods may read the disk. An error means that the answer is unknown, and
// makes the verdict Undecided, never Holds. The names in the values are interned in the
// transaction's Names. A View is valid as long as its Txn. Only one goroutine may use it.
type View interface {
	// Get returns the value of a field of an object. ok is false if the object does not exist or does
	// not have the field.
	Get(o Object, f Field) (v Value, ok bool, err error)
	// Values is Get for several fields of one object. It sets values[i] to the value of fields[i], or
	// to Null if the object does not exist or does not have the field. fields must not contain
	// FieldObject.
	Values(o Object, fields []Field, values []Value) error
	// Exists reports whether the object exists.
	Exists(o Object) (bool, error)
	// Scan yields the objects from lo to hi inclusive, in order. It stops at the first error. lo and
	// hi have the same Tree. In a file system that orders objects by kind first (ext3), they also have
	// the same Kind.
	Scan(lo, hi Object) iter.Seq2[Object, error]
	// ScanDown yields the same objects in the reverse order, from hi to lo.
	ScanDown(lo, hi Object) iter.Seq2[Object, error]
	// Previous returns an object of the nearest key before that of o in o's tree. It skips objects
	// that are stored inside another object's item, such as back references in an extent item. ok is
	// false if there is none.
	Previous(o Object) (p Object, ok bool, err error)
	// Next is Previous in the other direction.
	Next(o Object) (n Object, ok bool, err error)
}

// A Walker is a View that scans objects without the cost of an iterator.
type Walker interface {
	View
	// Walk yields the same objects as Scan, until yield returns false.
	Walk(lo, hi Object, yield func(Object, error) bool)
}

// A Namer is a View that finds objects of some kinds by their name. An inode can have thousands of
// names, and its other names are not read.
type Namer interface {
	View
	// Named yields those of the objects from lo to hi that have a name in KindInfo.ByName. lo and hi
	// have the same Tree, ID, Kind and Sub.
	Named(lo, hi Object, name []byte, yield func(Object, error) bool)
}

// A Forker is a View that several goroutines can use concurrently, each its own fork.
type Forker interface {
	View
	// Fork returns a View of the same state. names is a fork of the transaction's Names.
	Fork(names *Names) View
}
