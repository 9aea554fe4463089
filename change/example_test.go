package change_test

import (
	"fmt"

	"fsward/change"
)

// The kinds, fields and words of a small file system.
const (
	kindInode change.Kind = iota + 1
	kindEntry
)

const (
	fieldSize change.Field = iota + 1
	fieldType
	fieldInode
)

const wordDirectory change.WordID = 1

// schema names them.
var schema = &change.Schema{
	FS: "toy",
	Kinds: []change.KindInfo{
		{},
		{Name: "inode", Shape: change.ShapeNum,
			Fields: []change.Field{fieldSize, fieldType}},
		{Name: "entry", Shape: change.ShapeNamed,
			Fields: []change.Field{fieldInode}},
	},
	Fields:     []string{"object", "size", "type", "inode"},
	Words:      []string{"present", "directory"},
	KindIsTree: true,
}

// A transaction makes a directory: it adds an inode and an entry, and another inode grows. Rules
// see the records as facts.
func ExampleTxn() {
	names := change.NewNames()
	txn := &change.Txn{Schema: schema, Generation: 7, Names: names}

	inode := change.Object{ID: 12, Kind: kindInode}
	txn.Add(inode)
	txn.Append(change.Record{Object: inode, Field: fieldType, New: change.WordValue(wordDirectory)})
	entry := change.Object{ID: 2, Kind: kindEntry, Sub: names.Handle([]byte("it's new"))}
	txn.Add(entry)
	txn.Append(change.Record{Object: entry, Field: fieldInode, New: change.Num(12)})
	parent := change.Object{ID: 2, Kind: kindInode}
	txn.Update(parent)
	txn.Append(change.Record{Object: parent, Field: fieldSize, Old: change.Num(1024),
		New: change.Num(2048)})

	for _, r := range txn.Records {
		fmt.Println(schema.RecordText(r, names))
	}
	// Output:
	// change(inode,12,object,null,present)
	// change(inode,12,type,null,directory)
	// change(entry,a(2,'it\'s new'),object,null,present)
	// change(entry,a(2,'it\'s new'),inode,null,12)
	// change(inode,2,object,present,present)
	// change(inode,2,size,1024,2048)
}
