package invariants_test

import (
	"context"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"fsward/invariants"
)

// TestDocsExamples checks that the rules in docs/user/rules.md load, and find what the document
// says.
func TestDocsExamples(t *testing.T) {
	text, err := os.ReadFile("../docs/user/rules.md")
	if err != nil {
		t.Fatal(err)
	}
	var rules strings.Builder
	parts := strings.Split(string(text), "```prolog\n")
	for _, p := range parts[1:] {
		code, _, ok := strings.Cut(p, "```")
		if !ok {
			t.Fatal("a block of code does not end")
		}
		rules.WriteString(code + "\n")
	}
	f := parseFacts(t, `
change(5,k(257,inode_item,0),nlink,1,0).
change(5,k(258,inode_item,0),nlink,1,2).
change(5,k(259,inode_item,0),object,present,null).
change(5,k(260,inode_item,0),object,present,null).
object(5,k(259,dir_item,77)).
object(5,k(259,dir_index,2)).
object(5,k(260,extent_data,0)).
change(2,k(1000,block_group_item,100),used,10,20).
change(2,k(1100,block_group_item,100),used,10,20).
change(2,k(1010,extent_item,8),object,null,present).
change(2,k(1090,extent_item,2),object,null,present).
change(2,k(1100,extent_item,2),object,present,null).
object(3,k(256,chunk_item,1000)).
object(3,k(256,chunk_item,1100)).
`)
	e := newEngine(t, f.Txn.Schema, rules.String(), invariants.Options{})
	for _, r := range e.Rules() {
		if r.Doc == "" || r.Origin == "" || r.User == "" {
			t.Errorf("the comment block of %s is not read: %+v", r.Name, r)
		}
	}
	v := e.Check(context.Background(), f.Txn, f.View)
	want := []string{"left_over\t5\tk(259,dir_index,2)", "left_over\t5\tk(259,dir_item,77)",
		"linked\t5\tk(257,inode_item,0)", "used\t2\tk(1100,block_group_item,100)"}
	if d := cmp.Diff(want, lines(v.Violations)); d != "" || len(v.Undecided) > 0 {
		t.Errorf("violations (-want +got):\n%s%v", d, v.Undecided)
	}
}
