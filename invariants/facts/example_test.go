package facts_test

import (
	"fmt"

	"fsward/change"
	"fsward/invariants/facts"
)

// Parse reads a transaction and the state after it.
func ExampleParse() {
	f, err := facts.Parse(`
change(5, k(257,inode_item,0), size, 0, 4096).
object(5, k(257,inode_item,0)).
state(5, k(257,inode_item,0), size, 4096).
`)
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, r := range f.Txn.Records {
		fmt.Println(f.Txn.Schema.RecordText(r, f.Txn.Names))
	}
	exists, err := f.View.Exists(change.Object{Tree: 5, ID: 258, Kind: 1})
	fmt.Println(exists, err)
	// Output:
	// change(5,k(257,inode_item,0),size,0,4096)
	// false <nil>
}
