package btrfs_test

import (
	"fmt"
	"os"
	"slices"
	"testing"

	"fsward/change"
	"fsward/interp/btrfs"
)

// TestNamesOfAnInode checks that the view finds each name of a file as a scan does. The names of a
// file are in inode_refs and inode_extrefs, in several directories. More files than there are
// filters have long inode_refs.
func TestNamesOfAnInode(t *testing.T) {
	k := startKernel(t, 256<<20)
	for _, dir := range []string{"d", "e"} {
		must(t, os.Mkdir(k.path(dir), 0o755))
	}
	must(t, os.WriteFile(k.path("f"), nil, 0o644))
	for i := range 1400 {
		must(t, os.Link(k.path("f"), k.path(fmt.Sprintf("d/name%d", i))))
		if i%3 == 0 {
			must(t, os.Link(k.path("f"), k.path(fmt.Sprintf("e/name%d", i))))
		}
	}
	for i := range 80 {
		file := k.path(fmt.Sprintf("file%d", i))
		must(t, os.WriteFile(file, nil, 0o644))
		for j := range 60 {
			must(t, os.Link(file, k.path(fmt.Sprintf("d/file%d-%d", i, j))))
		}
	}
	k.sync()
	obs, err := btrfs.Image(k.disk)
	if err != nil || obs.Txn == nil {
		t.Fatalf("%v %+v", err, obs)
	}
	counts := map[string]int{}
	view, ok := obs.View.(change.Namer)
	if !ok {
		t.Fatalf("%T finds no names", obs.View)
	}
	for _, r := range obs.Txn.Records {
		kind := btrfs.Schema().Kinds[r.Object.Kind]
		if kind.ByName == 0 || kind.ByName != r.Field {
			continue
		}
		counts[kind.Name]++
		handle, _ := r.New.Handle()
		name := []byte(obs.Txn.Names.At(handle))
		checkNamed(t, view, r, name)
		if got := named(t, view, r.Object, append(name, 'x')); len(got) > 0 {
			t.Errorf("%sx: %v", name, got)
		}
	}
	if counts["inode_extref"] < 100 || counts["inode_ref"] < 100 {
		t.Errorf("%v: not enough names of both kinds", counts)
	}
	k.end()
}

// checkNamed compares the objects with the name of a record that a scan finds among all names of
// the inode in the directory with those that the view finds by the name.
func checkNamed(t *testing.T, v change.Namer, r change.Record, name []byte) {
	t.Helper()
	lo, hi := r.Object, r.Object
	lo.Aux, hi.Aux = 0, ^uint64(0)
	var want []change.Object
	for o, err := range v.Scan(lo, hi) {
		must(t, err)
		value, _, err := v.Get(o, r.Field)
		must(t, err)
		if value == r.New {
			want = append(want, o)
		}
	}
	if got := named(t, v, r.Object, name); !slices.Equal(got, want) {
		t.Errorf("%s: %v, want %v", name, got, want)
	}
}

// named returns the objects with a name in the directory of a name.
func named(t *testing.T, v change.Namer, o change.Object, name []byte) (got []change.Object) {
	lo, hi := o, o
	lo.Aux, hi.Aux = 0, ^uint64(0)
	v.Named(lo, hi, name, func(o change.Object, err error) bool {
		must(t, err)
		got = append(got, o)
		return true
	})
	return got
}
