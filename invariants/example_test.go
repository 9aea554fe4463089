package invariants_test

import (
	"context"
	"fmt"

	"fsward/invariants"
	"fsward/invariants/facts"
)

// An engine is built from one rule and judges a transaction that removes the last name of an inode.
func ExampleNewCompiled() {
	f, err := facts.Parse(`
change(5, k(257,inode_item,0), nlink, 1, 0).
change(5, k(257,inode_ref,a(256,2)), object, present, null).
object(5, k(257,inode_item,0)).
state(5, k(257,inode_item,0), nlink, 0).
`)
	if err != nil {
		fmt.Println(err)
		return
	}
	rule := `
% Rule 1. An inode without links is removed.
violation(1, TREE, k(INODE,inode_item,0)) :-
  change(TREE, k(INODE,inode_item,0), nlink, _, 0),
  query(TREE, k(INODE,inode_item,0)).
`
	files := []invariants.File{{Name: "mine.pl", Text: []byte(rule)}}
	engine, err := invariants.NewCompiled(f.Txn.Schema, files,
		invariants.Options{OpenVocabulary: true})
	if err != nil {
		fmt.Println(err)
		return
	}
	verdict := engine.Check(context.Background(), f.Txn, f.View)
	verdict.AddWitnesses(f.Txn)
	fmt.Println(verdict.Outcome)
	for _, v := range verdict.Violations {
		fmt.Println(v.Rule, v.Tree, v.ID, v.Source)
		fmt.Println(v.Doc)
		fmt.Println(v.Witness)
	}
	// Output:
	// violated
	// btrfs/1 5 k(257,inode_item,0) mine.pl:3
	// An inode without links is removed.
	// [change(5,k(257,inode_item,0),nlink,1,0)]
}

// Builtin returns the rules that come with fsward.
func ExampleBuiltin() {
	files, err := invariants.Builtin("ext3")
	fmt.Println(files[0].Name, err)
	// Output: invariants/ext3/block.pl <nil>
}
