package ext3

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"fsward/change"
	"fsward/interp/ext3/ondisk"
)

// TestParentTable checks that of several parents the first counts, and that the table is bounded.
func TestParentTable(t *testing.T) {
	var none *parentTable
	if _, ok := none.find(2); ok {
		t.Error("a nil table has a parent")
	}
	var table parentTable
	for dir := uint32(1); dir < maxParents+100; dir++ {
		table.add(2*dir, dir)
		table.add(2*dir, dir+7)
	}
	if n := len(table.list); n != maxParents {
		t.Errorf("the table has %d parents, want %d", n, maxParents)
	}
	for dir := uint32(1); dir <= 3000; dir++ {
		of, ok := table.find(dir)
		if ok != (dir%2 == 0) || ok && of != dir/2 {
			t.Fatalf("directory %d: parent %d, %v", dir, of, ok)
		}
	}
}

// TestParentsOfImage compares the parents that the view of an image keeps with the entries "..".
func TestParentsOfImage(t *testing.T) {
	src := t.TempDir()
	for i := range 200 {
		if err := os.MkdirAll(filepath.Join(src, fmt.Sprint(i%7), fmt.Sprint(i)), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	obs, err := Image(OpenImage(t, Mkfs(t, "16M", "-d", src)))
	if err != nil || obs.Txn == nil {
		t.Fatalf("the image has no transaction: %v", err)
	}
	kept := obs.View.(*view)
	read := kept.Fork(obs.Txn.Names).(*view)
	read.parents = nil
	dirs := 0
	for i := range obs.Txn.Records {
		o := obs.Txn.Records[i].Object
		if o.Kind != ondisk.KindDirent || kept.names.At(o.Sub) != ".." {
			continue
		}
		dirs++
		for _, f := range []change.Field{ondisk.FieldInode, ondisk.FieldFileType} {
			want, found, err := read.Get(o, f)
			got, ok, err2 := kept.Get(o, f)
			if got != want || ok != found || err != nil || err2 != nil {
				t.Fatalf("directory %d: field %d is %v, want %v (%v, %v)", o.ID, f, got, want, err, err2)
			}
		}
		if _, ok := kept.parents.find(uint32(o.ID)); !ok {
			t.Errorf("the parent of directory %d is not kept", o.ID)
		}
	}
	if dirs < 200 {
		t.Errorf("%d records of entries .., want those of 200 directories", dirs)
	}
}
