package invariants_test

import (
	"context"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"fsward/change"
	"fsward/invariants"
)

// TestViolation checks that a violation has its rule, source, object and documentation.
func TestViolation(t *testing.T) {
	rules := `% Rule 3. A size is small. Sometimes.
% It is, e.g. less than ten.
% Source: a
%  book
% For the user: nothing.
violation(3, TREE, k(I,inode_item,0)) :- new(TREE, k(I,inode_item,0), size, S), S > 10.
violation(3, TREE, ID) :- change(TREE, ID, size, _, _).

violation(named, 7, k(-10,extent_csum,X)) :- new(7, k(-10,extent_csum,X)).
violation(12, 5, k(300,inode_item,0)) :- true.
violation(12, 5, k(257,inode_item,0)) :- true.
violation(12, 5, odd('it''s', [1,2|_])) :- true.
`
	f := parseFacts(t, world)
	e := newEngine(t, f.Txn.Schema, rules, invariants.Options{})
	want := []invariants.Rule{
		{Name: "btrfs/3", Doc: "A size is small.", Source: "test.pl:6", Origin: "a book",
			User: "nothing.", Severity: invariants.DefaultSeverity},
		{Name: "btrfs/named", Source: "test.pl:9", Severity: invariants.DefaultSeverity},
		{Name: "btrfs/12", Source: "test.pl:10", Severity: invariants.DefaultSeverity},
	}
	if d := cmp.Diff(want, e.Rules(), cmpopts.IgnoreFields(invariants.Rule{}, "Hash")); d != "" {
		t.Errorf("rules (-want +got):\n%s", d)
	}
	v := e.Check(context.Background(), f.Txn, f.View)
	inode := []string{"change(5,k(257,inode_item,0),object,null,present)",
		"change(5,k(257,inode_item,0),size,null,18446744073709551615)",
		"change(5,k(257,inode_item,0),nlink,1,2)"}
	by := func(rule, tree, id, doc, source string, witness ...string) change.Violation {
		return change.Violation{Rule: rule, Kind: change.ByRule, Tree: tree, ID: id, Doc: doc,
			Source: source, Witness: witness}
	}
	wantViolations := []change.Violation{
		by("btrfs/named", "7", "k(-10,extent_csum,4096)", "", "test.pl:9",
			"change(7,k(-10,extent_csum,4096),object,null,present)",
			"change(7,k(-10,extent_csum,4096),nsums,null,11)"),
		by("btrfs/3", "5", "k(257,inode_item,0)", "A size is small.", "test.pl:6", inode...),
		by("btrfs/3", "5", "k(258,inode_item,0)", "A size is small.", "test.pl:7",
			"change(5,k(258,inode_item,0),object,present,null)",
			"change(5,k(258,inode_item,0),size,10,null)"),
		by("btrfs/12", "5", `odd('it\'s',[1,2|_])`, "", "test.pl:12"),
		by("btrfs/12", "5", "k(257,inode_item,0)", "", "test.pl:11", inode...),
		by("btrfs/12", "5", "k(300,inode_item,0)", "", "test.pl:10",
			"change(5,k(300,dir_item,9),object,null,present)",
			"change(5,k(300,dir_item,9),name,null,null)", "change(5,k(300,dir_item,9),name_len,null,4)"),
	}
	if d := cmp.Diff(wantViolations, v.Violations); d != "" {
		t.Errorf("violations (-want +got):\n%s", d)
	}
	// An engine judges one transaction after another, and keeps nothing of the first.
	empty := parseFacts(t, "")
	empty.Txn.Schema = f.Txn.Schema
	if v := e.Check(context.Background(), empty.Txn, empty.View); len(v.Violations) != 3 {
		t.Errorf("an empty transaction has %d violations of the rules that always fail, want 3",
			len(v.Violations))
	}
}
