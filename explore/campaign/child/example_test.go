package child_test

import (
	"fmt"

	"fsward/explore/campaign/child"
)

// Two guests share four processors.
func ExampleParseCPUs() {
	fmt.Println(child.ParseCPUs("0-3", 2))
	// Output:
	// [[0 1] [2 3]] <nil>
}
