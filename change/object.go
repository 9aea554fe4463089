// Package change holds what changed: objects, fields, old and new values, the transaction of records
// that a commit point closes, the text form of each, and what a checker says of it. It knows no file
// system: a Schema, which the interpreter of a file system declares, gives the numbers their names.
package change

import "cmp"

// Kind is the type of an object: an index into Schema.Kinds. Zero is no kind.
type Kind uint8

// Field is a part of an object: an index into Schema.Fields.
type Field uint8

// FieldObject is the field of the one record that each added, updated or deleted object has for
// itself, besides those of its fields: null→present, present→present or present→null (thesis 3.3.1).
const FieldObject Field = 0

// An Object is the identity of a file system object: comparable, and ordered by Compare as the file
// system orders its own. What the numbers mean depends on the Kind: see Shape.
type Object struct {
	Tree uint64 // Btrfs: the tree's id; ext3: 0, the kind stands in its place
	ID   uint64 // Btrfs: objectid; ext3: inode, group or block number
	Sub  uint64 // Btrfs: key offset; ext3: as the kind's Shape says
	Aux  uint64 // what tells apart several objects in one key, such as the index of an inode_ref
	Kind Kind
}

// Compare orders objects by tree, id, kind, sub, aux.
func (o Object) Compare(p Object) int {
	return cmp.Or(cmp.Compare(o.Tree, p.Tree), cmp.Compare(o.ID, p.ID), cmp.Compare(o.Kind, p.Kind),
		cmp.Compare(o.Sub, p.Sub), cmp.Compare(o.Aux, p.Aux))
}

// A Record is one change: a field of an object, before and after.
type Record struct {
	Object Object
	Field  Field
	Old    Value // Null: the object had no such field, or did not exist
	New    Value // Null: the object no longer has it, or no longer exists
}

// A Txn is all that changed between two commit points. It is valid until the interpreter that made it
// observes the next write; Records may then be reused. The records of one object stand one after the other.
type Txn struct {
	Schema     *Schema
	Generation uint64 // Btrfs: superblock generation; ext3: jbd2 sequence number
	Records    []Record
	Names      *Names // names in Records, and in the View that goes with them
}

// Add appends the record of an object that came into being.
func (t *Txn) Add(o Object) { t.Append(Record{Object: o, New: Present}) }

// Delete appends the record of an object that is gone.
func (t *Txn) Delete(o Object) { t.Append(Record{Object: o, Old: Present}) }

// Update appends the record of an object that some field changed of.
func (t *Txn) Update(o Object) { t.Append(Record{Object: o, Old: Present, New: Present}) }

// Append appends a record.
func (t *Txn) Append(r Record) { t.Records = append(t.Records, r) }
