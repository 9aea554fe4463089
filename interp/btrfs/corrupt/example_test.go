package corrupt_test

import (
	"fmt"

	"fsward/interp/btrfs/corrupt"
)

// Alterables lists the objects that a specification can name, with their fields and actions.
func ExampleAlterables() {
	for _, a := range corrupt.Alterables() {
		if a.Object == "key_ptr" {
			fmt.Println(a.Fields[3].Name, a.Fields[3].Width, a.Actions)
		}
	}
	// Output: blockptr 8 [delete duplicate swap swapkeys]
}
