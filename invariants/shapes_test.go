package invariants_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"fsward/invariants"
	"fsward/invariants/facts"
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

// TestCostOfSnapshots checks that the rows that rule 7 looks at grow linearly with the extents of a
// file in a snapshot, whether each extent has its own back reference or all have one.
func TestCostOfSnapshots(t *testing.T) {
	files, err := invariants.Builtin("btrfs")
	if err != nil {
		t.Fatal(err)
	}
	for name, shape := range map[string]func(n int) string{
		"extents": snapshotOf, "pieces of an extent": snapshotOfPieces} {
		rows := func(n int) (sum int64) {
			f, err := facts.Parse(shape(n))
			if err != nil {
				t.Fatal(err)
			}
			e, err := invariants.NewCompiled(f.Txn.Schema, files,
				invariants.Options{OpenVocabulary: true})
			if err != nil {
				t.Fatal(err)
			}
			for _, violation := range e.Check(context.Background(), f.Txn, f.View).Violations {
				if violation.Rule == "btrfs/7" {
					t.Fatalf("%s: %+v", name, violation)
				}
			}
			for _, timing := range e.Timing() {
				if timing.Rule == "btrfs/7" {
					sum += timing.Rows
				}
			}
			return sum
		}
		small, large := rows(1000), rows(8000)
		if small == 0 || large > 9*small {
			t.Errorf("%s: %d rows for 1,000, %d rows for 8,000", name, small, large)
		}
		t.Logf("%s: %d rows for 1,000, %d rows for 8,000", name, small, large)
	}
}
