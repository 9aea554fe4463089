package invariants_test

import (
	"cmp"
	"context"
	"fmt"
	"strings"
	"testing"

	"fsward/invariants"
	"fsward/invariants/facts"
	"fsward/invariants/reference"
)

// snapshotOf returns a snapshot (tree 256) of a file with n extents of 4 KiB each. The references
// of the file's leaves stay those of tree 5, and the snapshot's leaves are shared.
func snapshotOf(n int) string {
	var b strings.Builder
	b.WriteString("object(1,k(5,root_item,0)).\nstate(1,k(5,root_item,0),refs,1).\n")
	for i := range n {
		extent, at := (1<<30)+4096*2*i, 4096*i
		fmt.Fprintf(&b, "object(2,k(%d,extent_item,4096)).\n", extent)
		ref := fmt.Sprintf("k(%d,extent_data_ref,%d)", extent, i)
		fmt.Fprintf(&b, "object(2,%s).\nstate(2,%s,root,5).\nstate(2,%s,objectid,257).\n"+
			"state(2,%s,offset,%d).\nstate(2,%s,count,1).\n", ref, ref, ref, ref, at, ref)
		fmt.Fprintf(&b, "object(5,k(257,extent_data,%d)).\nstate(5,k(257,extent_data,%d),backref,%s).\n"+
			"state(5,k(257,extent_data,%d),leaf,32768).\n", at, at, ref, at)
		fmt.Fprintf(&b, "change(256,k(257,extent_data,%d),object,null,present).\n"+
			"change(256,k(257,extent_data,%d),backref,null,%s).\n", at, at, ref)
	}
	return b.String()
}

// snapshotOfPieces returns a snapshot of a file of which n pieces of 4 KiB are left of one extent.
func snapshotOfPieces(n int) string {
	var b strings.Builder
	const ref = "k(1073741824,extent_data_ref,9)"
	b.WriteString("object(1,k(5,root_item,0)).\nstate(1,k(5,root_item,0),refs,1).\n")
	fmt.Fprintf(&b, "object(2,k(1073741824,extent_item,%d)).\nobject(2,%s).\nstate(2,%s,root,5).\n"+
		"state(2,%s,objectid,257).\nstate(2,%s,offset,0).\nstate(2,%s,count,%d).\n",
		8192*n, ref, ref, ref, ref, ref, n)
	for i := range n {
		at := 8192 * i
		fmt.Fprintf(&b, "object(5,k(257,extent_data,%d)).\nstate(5,k(257,extent_data,%d),backref,%s).\n"+
			"state(5,k(257,extent_data,%d),leaf,32768).\n", at, at, ref, at)
		fmt.Fprintf(&b, "change(256,k(257,extent_data,%d),object,null,present).\n"+
			"change(256,k(257,extent_data,%d),backref,null,%s).\n", at, at, ref)
	}
	return b.String()
}

// references returns two adjacent new extents, of which the first has n references.
func references(n int) string {
	var b strings.Builder
	for _, extent := range []int{1 << 20, 1<<20 + 4096} {
		fmt.Fprintf(&b, "object(2,k(%d,extent_item,4096)).\n"+
			"change(2,k(%d,extent_item,4096),object,null,present).\n", extent, extent)
	}
	for i := range n {
		fmt.Fprintf(&b, "object(2,k(1048576,extent_data_ref,%d)).\n"+
			"change(2,k(1048576,extent_data_ref,%d),object,null,present).\n", i, i)
	}
	return b.String()
}

// emptyBlockGroups returns n new block groups of 1 GiB without extents, behind an extent. The facts
// name extent_item first, since the first names stand for the smaller types of keys.
func emptyBlockGroups(n int) string {
	var b strings.Builder
	b.WriteString("object(2,k(1048576,extent_item,4096)).\nobject(0,k(0,super_block,0)).\n" +
		"state(0,k(0,super_block,0),f(compat_ro_flags,free_space_tree_valid),1).\n" +
		"state(0,k(0,super_block,0),generation,9).\n" +
		"state(0,k(0,super_block,0),uuid_tree_generation,9).\n")
	for i := range n {
		group := int64(i+1) << 30
		for _, object := range []string{fmt.Sprintf("2,k(%d,block_group_item,%d)", group, 1<<30),
			fmt.Sprintf("10,k(%d,free_space_extent,%d)", group, 1<<30)} {
			fmt.Fprintf(&b, "object(%s).\nchange(%s,object,null,present).\n", object, object)
		}
	}
	return b.String()
}

// sharedPrealloc returns n files that share one new preallocated extent.
func sharedPrealloc(n int) string {
	var b strings.Builder
	fmt.Fprintf(&b, "object(2,k(1048576,extent_item,4096)).\n"+
		"change(2,k(1048576,extent_item,4096),object,null,present).\n"+
		"state(2,k(1048576,extent_item,4096),refs,%d).\n", n)
	for i := range n {
		ref := fmt.Sprintf("k(1048576,extent_data_ref,%d)", i)
		fmt.Fprintf(&b, "object(2,%s).\nstate(2,%s,count,1).\n", ref, ref)
		file := fmt.Sprintf("5,k(%d,extent_data,0)", 257+i)
		fmt.Fprintf(&b, "object(%s).\nstate(%s,backref,%s).\nstate(%s,disk_num_bytes,4096).\n"+
			"change(%s,object,null,present).\nchange(%s,type,null,prealloc).\n",
			file, file, ref, file, file, file)
	}
	return b.String()
}

// hardLinks returns n new names of an inode in one directory.
func hardLinks(n int) string {
	var b strings.Builder
	object := func(id, fields string) {
		fmt.Fprintf(&b, "object(5,%s).\nchange(5,%s,object,null,present).\n", id, id)
		for f := range strings.SplitSeq(fields, " ") {
			field, value, _ := strings.Cut(f, "=")
			fmt.Fprintf(&b, "state(5,%s,%s,%s).\n", id, field, value)
		}
	}
	b.WriteString("object(5,k(256,inode_item,0)).\nstate(5,k(256,inode_item,0),nlink,1).\n")
	for i := range n {
		name := fmt.Sprintf("n%d", i)
		fields := fmt.Sprintf("name='%s' link=k(257,inode_item,%d)", name, 1000+i)
		object(fmt.Sprintf("k(257,inode_ref,a(256,%d))", 2+i), fields)
		object(fmt.Sprintf("k(256,dir_index,%d)", 2+i), fields)
		object(fmt.Sprintf("k(256,dir_item,%d)", reference.NameHash([]byte(name))), fields)
	}
	return b.String()
}

// newSubvolumes returns n new subvolumes, with the same inodes in each.
func newSubvolumes(n int) string {
	var b strings.Builder
	for i := range n {
		for _, id := range []string{"k(257,inode_item,0)", "k(257,inode_ref,a(256,2))"} {
			fmt.Fprintf(&b, "object(%d,%s).\nchange(%d,%s,object,null,present).\n", 300+i, id, 300+i, id)
		}
	}
	return b.String()
}

// newDirectories returns a file system that is new as a whole, with n directories in one.
func newDirectories(n int) string {
	var b strings.Builder
	for _, d := range []int{2, 12} { // the root, and a directory in it
		fmt.Fprintf(&b, "change(dirent,a(%d,'..'),inode,null,2).\n", d)
	}
	for i := range n {
		fmt.Fprintf(&b, "change(dirent,a(%d,'..'),inode,null,12).\n", 13+i)
	}
	return b.String()
}

// nestedDirectories returns a file system that is new as a whole, with a chain of n directories.
func nestedDirectories(n int) string {
	var b strings.Builder
	b.WriteString("object(dirent,a(2,'..')).\nstate(dirent,a(2,'..'),inode,2).\n")
	for i := range n {
		parent := 10 + i
		if i == 0 {
			parent = 2
		}
		fmt.Fprintf(&b, "object(dirent,a(%d,'..')).\nstate(dirent,a(%d,'..'),inode,%d).\n"+
			"change(dirent,a(%d,'..'),inode,null,%d).\n", 11+i, 11+i, parent, 11+i, parent)
	}
	return b.String()
}

// movedDirectories returns a chain of n directories, each of which has moved.
func movedDirectories(n int) string {
	var b strings.Builder
	b.WriteString("object(dirent,a(2,'..')).\nstate(dirent,a(2,'..'),inode,2).\n")
	for i := range n { // the deepest comes first
		parent := 12 + i
		if i == n-1 {
			parent = 2
		}
		fmt.Fprintf(&b, "object(dirent,a(%d,'..')).\nstate(dirent,a(%d,'..'),inode,%d).\n"+
			"change(dirent,a(%d,'..'),inode,3,%d).\n", 11+i, 11+i, parent, 11+i, parent)
	}
	return b.String()
}

// TestCostOfShapes checks that the rows that a rule looks at grow linearly, or as n·log n, with
// transactions whose shape could make them grow faster.
func TestCostOfShapes(t *testing.T) {
	for _, tc := range []struct {
		rule, name string
		shape      func(n int) string
		n          int // 0 selects 1,000
	}{
		{"btrfs/7", "a snapshot of a file with n extents", snapshotOf, 0},
		{"btrfs/7", "a snapshot of a file with n pieces of one extent", snapshotOfPieces, 0},
		{"btrfs/6", "an extent with n references", references, 0},
		{"btrfs/80", "n new block groups without extents", emptyBlockGroups, 0},
		{"btrfs/21", "a preallocated extent that n files share", sharedPrealloc, 0},
		{"btrfs/17", "n hard links in one directory", hardLinks, 0},
		{"btrfs/12", "n subvolumes with the same inodes", newSubvolumes, 0},
		{"ext3/20", "n directories in one", newDirectories, 0},
		{"ext3/20", "n new directories nested", nestedDirectories, 0},
		{"ext3/20", "n moved directories nested", movedDirectories, 0},
		{"ext3/20", "n moved directories nested", movedDirectories, 10_000},
	} {
		n := cmp.Or(tc.n, 1000)
		small, large := rowsOf(t, tc.rule, tc.shape(n)), rowsOf(t, tc.rule, tc.shape(8*n))
		// ext3/20 took 10,000 rows for each directory: linear, and yet too many.
		if small == 0 || small > 200*int64(n) || large > 11*small {
			t.Errorf("%s, %s: %d rows for n = %d, %d rows for n = %d", tc.rule, tc.name, small, n, large,
				8*n)
		}
		t.Logf("%s, %s: %d rows for n = %d, %d rows for n = %d", tc.rule, tc.name, small, n, large, 8*n)
	}
}

// rowsOf returns the rows that a built-in rule looks at in a transaction that does not violate it.
func rowsOf(t *testing.T, rule, text string) (rows int64) {
	t.Helper()
	fs, _, _ := strings.Cut(rule, "/")
	files, err := invariants.Builtin(fs)
	if err != nil {
		t.Fatal(err)
	}
	f, err := facts.Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	if f.Txn.Schema.FS != fs {
		t.Fatalf("the facts are of %s", f.Txn.Schema.FS)
	}
	e, err := invariants.NewCompiled(f.Txn.Schema, files, invariants.Options{OpenVocabulary: true})
	if err != nil {
		t.Fatal(err)
	}
	for _, violation := range e.Check(context.Background(), f.Txn, f.View).Violations {
		if violation.Rule == rule {
			t.Fatalf("%+v", violation)
		}
	}
	for _, timing := range e.Timing() {
		if timing.Rule == rule {
			rows += timing.Rows
		}
	}
	return rows
}
