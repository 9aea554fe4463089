package change

import (
	"math"
	"slices"
	"testing"
	"unsafe"
)

const (
	kindInode Kind = iota + 1
	kindRef
	kindEntry
	kindBlock
)

var testSchema = &Schema{
	FS: "test",
	Kinds: []KindInfo{
		{},
		{Name: "inode_item"},
		{Name: "inode_ref", Shape: ShapePair},
		{Name: "dirent", Shape: ShapeNamed},
		{Name: "block", Shape: ShapeNum},
	},
	Fields: []string{"object", "size", "f(mode,s_ifmt)", "name", "location"},
	Words:  []string{"present", "s_ifreg", "s_ifdir"},
}

func TestRecordText(t *testing.T) {
	names := NewNames()
	txn := &Txn{Schema: testSchema, Names: names}
	inode := Object{Tree: 5, ID: 257, Kind: kindInode}
	txn.Add(inode)
	txn.Append(Record{inode, 1, Num(math.MaxUint64), Num(0)})
	txn.Append(Record{inode, 2, Value{}, WordValue(2)})
	ref := Object{Tree: 5, ID: 257, Kind: kindRef, Sub: 256, Aux: 3}
	txn.Append(Record{ref, 3, Value{}, names.Intern([]byte("it's\x1b[2J\\"))})
	key, wideKey := names.Key(258, kindInode, 0), names.Key(258, kindRef, math.MaxUint64)
	txn.Append(Record{inode, 4, key, wideKey})
	txn.Update(Object{Tree: 5, ID: 2, Kind: kindEntry, Sub: names.Handle([]byte("lost+found"))})
	txn.Delete(Object{Tree: math.MaxUint64 - 8, ID: 12, Kind: kindBlock})
	want := []string{
		"change(5,k(257,inode_item,0),object,null,present)",
		"change(5,k(257,inode_item,0),size,18446744073709551615,0)",
		"change(5,k(257,inode_item,0),f(mode,s_ifmt),null,s_ifdir)",
		`change(5,k(257,inode_ref,a(256,3)),name,null,'it\'s\x1b\[2J\\')`,
		"change(5,k(257,inode_item,0),location,k(258,inode_item,0),k(258,inode_ref,-1))",
		"change(5,a(2,'lost+found'),object,present,present)",
		"change(-9,12,object,present,null)",
	}
	for i, r := range txn.Records {
		if got := testSchema.RecordText(r, names); got != want[i] {
			t.Errorf("got  %s\nwant %s", got, want[i])
		}
	}
	byKind := *testSchema
	byKind.KindIsTree = true
	if got := byKind.TreeText(Object{ID: 12, Kind: kindBlock}); got != "block" {
		t.Errorf("TreeText returned %q, want the kind", got)
	}
}

// TestTextOfTheUnknown checks that numbers outside the schema, which a damaged disk can contain,
// are written as numbers and do not cause a panic.
func TestTextOfTheUnknown(t *testing.T) {
	names := NewNames()
	r := Record{Object{Tree: 1, ID: 2, Kind: 99}, 99, WordValue(99), Value{n: 7, tag: Name}}
	if got, want := testSchema.RecordText(r, names), "change(1,k(2,99,0),99,99,'')"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

func TestNamesCompareEqual(t *testing.T) {
	names := NewNames()
	a, b := names.Intern([]byte("a")), names.Intern([]byte("b"))
	if a == b || a != names.Intern([]byte("a")) || names.Text(a) != "a" {
		t.Error("names have equal values if and only if their bytes are equal")
	}
	key, again := names.Key(1, 2, 3), names.Key(1, 2, 3)
	if key != again || key == names.Key(1, 2, 4) || names.Key(1, 2, 0) == names.Key(1, 3, 0) {
		t.Error("keys have equal values if and only if their parts are equal")
	}
	id, kind, sub, ok := names.KeyOf(names.Key(1, 2, math.MaxUint64))
	if id != 1 || kind != 2 || sub != math.MaxUint64 || !ok {
		t.Errorf("got k(%d,%d,%d) %v", id, kind, sub, ok)
	}
	if _, _, _, ok := names.KeyOf(a); ok {
		t.Error("KeyOf accepted a name")
	}
	names.Reset()
	if names.Len() != 0 || names.Text(a) != "" {
		t.Error("a name remains after Reset")
	}
}

func TestObjectsOrderAsTheFileSystemDoes(t *testing.T) {
	want := []Object{
		{Tree: 1, ID: 9},
		{Tree: 5, ID: 1, Kind: 2},
		{Tree: 5, ID: 2, Kind: 1, Sub: 7},
		{Tree: 5, ID: 2, Kind: 2, Sub: 1},
		{Tree: 5, ID: 2, Kind: 2, Sub: 2, Aux: 1},
		{Tree: 5, ID: 2, Kind: 2, Sub: 2, Aux: 2},
		{Tree: math.MaxUint64},
	}
	got := slices.Clone(want)
	slices.Reverse(got)
	slices.SortFunc(got, Object.Compare)
	if !slices.Equal(got, want) {
		t.Errorf("got %v", got)
	}
}

// TestSizes bounds the sizes of values and records, so that a transaction of a million records
// takes less than 100 MB.
func TestSizes(t *testing.T) {
	if n := unsafe.Sizeof(Value{}); n != 16 {
		t.Errorf("a Value has %d bytes, want 16", n)
	}
	if n := unsafe.Sizeof(Record{}); n > 80 {
		t.Errorf("a Record has %d bytes, want at most 80", n)
	}
}

// TestNamesFork checks that forks of a table share its names and keys, and that each adds its own.
func TestNamesFork(t *testing.T) {
	base := NewNames()
	one, key := base.Intern([]byte("one")), base.Key(1, kindInode, 7)
	a, b := base.Fork(), base.Fork()
	for _, f := range []*Names{a, b} {
		if f.Intern([]byte("one")) != one || f.Key(1, kindInode, 7) != key || f.Text(one) != "one" {
			t.Error("a fork lacks a name or key of its base")
		}
	}
	two, far := a.Intern([]byte("two")), a.Key(1, kindInode, 8)
	if three := b.Intern([]byte("three")); b.Text(three) != "three" || a.Text(two) != "two" {
		t.Error("a fork lacks a name that it has added")
	}
	if base.Len() != 1 || a.Len() != 2 || base.Text(two) != "" {
		t.Error("the base has a name that a fork has added")
	}
	if _, _, sub, _ := a.KeyOf(far); sub != 8 {
		t.Errorf("sub is %d, want 8", sub)
	}
	if _, _, sub, _ := a.KeyOf(key); sub != 7 {
		t.Errorf("sub of the base is %d, want 7", sub)
	}
	f := a.Fork()
	if f.Intern([]byte("two")) != two || f.Key(1, kindInode, 8) != far || f.Text(one) != "one" {
		t.Error("a fork of a fork lacks a name or key of its bases")
	}
	if f.Intern([]byte("four")) == two {
		t.Error("a fork of a fork gives a new name the value of another name")
	}
}
