package corrupt_test

import (
	"fmt"
	"strings"

	"fsward/interp/ext3/corrupt"
)

// Objects whose names begin with journal are parts of the log itself.
func ExampleAlterables() {
	for _, a := range corrupt.Alterables() {
		if strings.HasPrefix(a.Object, "journal") {
			fmt.Println(a.Object, len(a.Fields), a.Actions)
		}
	}
	// Output:
	// journal_superblock 20 []
	// journal_descriptor 3 []
	// journal_tag 2 [swap duplicate]
	// journal_commit 7 []
	// journal_revoke 4 []
}
