package vote_test

import (
	"fmt"

	"fsward/repair/vote"
)

// Two other file systems keep a file that a repair lost.
func ExampleTally() {
	mine := vote.Ballot{"/a size": false, "/b size": true}
	kept := vote.Ballot{"/a size": true, "/b size": true}
	fmt.Println(vote.Tally(mine, []vote.Ballot{kept, kept}))
	// Output: [/a size]
}
