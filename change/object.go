// Package change defines change records and transactions, which the interpreters of file systems
// make and the rules check. A Txn contains all Records between two commit points; a View is the
// state after it; a Violation is a breach that a checker found. The package is independent of file
// systems: each interpreter declares a Schema with the names of its kinds of objects and fields.
// Start reading at Txn and View.
package change

import "cmp"

// Kind is the type of an object: an index into Schema.Kinds. Zero is not a kind.
type Kind uint8

// Field is a part of an object: an index into Schema.Fields.
type Field uint8

// FieldObject is the field of the record that says that an object was added (null→present), updated
// (present→present) or deleted (present→null). Each changed object has one such record besides
// those of its fields (thesis 3.3.1).
const FieldObject Field = 0

// An Object identifies an object of a file system. Objects are comparable, and Compare orders them
// as the file system does. The Kind determines the meaning of the numbers: see Shape.
type Object struct {
	Tree uint64 // Btrfs: the id of the tree; ext3: 0
	ID   uint64 // Btrfs: objectid; ext3: inode, group or block number
	Sub  uint64 // Btrfs: key offset; ext3: depends on the kind's Shape
	Aux  uint64 // distinguishes several objects with one key, such as the refs in an inode_ref
	Kind Kind
}

// Compare orders objects by tree, id, kind, sub, aux.
func (o Object) Compare(p Object) int {
	return cmp.Or(
		cmp.Compare(o.Tree, p.Tree),
		cmp.Compare(o.ID, p.ID),
		cmp.Compare(o.Kind, p.Kind),
		cmp.Compare(o.Sub, p.Sub),
		cmp.Compare(o.Aux, p.Aux),
	)
}

// A Record is one change: a field of an object with its old and its new value.
type Record struct {
	Object Object
	Field  Field
	Old    Value // Null: the object had no such field, or did not exist
	New    Value // Null: the object no longer has it, or no longer exists
}

// A Txn is a transaction: all changes between two commit points. It is valid until its interpreter
// observes the next write, which may reuse Records. The records of an object are adjacent.
type Txn struct {
	Schema     *Schema
	Generation uint64 // Btrfs: superblock generation; ext3: jbd2 sequence number
	Records    []Record
	Names      *Names // the names and keys of Records and of the View
	Copies     []Copy // of Btrfs, in the order of trees
	Work       *Work  // bounds the steps of the judgment; nil: no bound
	// Whole: it adds every object of a file system. It does not hold the changes of a commit.
	Whole bool
}

// A Copy says that the records of a new tree describe how it differs from another tree, its source:
// the new tree is a snapshot. The objects that are the same in both have no records.
type Copy struct {
	Tree, Of uint64
	Before   bool // the source as it was before the transaction; otherwise as it is afterwards
}

// Add appends the record of an added object.
func (t *Txn) Add(o Object) { t.Append(Record{Object: o, New: Present}) }

// Delete appends the record of a deleted object.
func (t *Txn) Delete(o Object) { t.Append(Record{Object: o, Old: Present}) }

// Update appends the record of an updated object: at least one of its fields has changed.
func (t *Txn) Update(o Object) { t.Append(Record{Object: o, Old: Present, New: Present}) }

// Append appends a record.
func (t *Txn) Append(r Record) { t.Records = append(t.Records, r) }
