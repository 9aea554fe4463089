package modeltest_test

import (
	"fmt"

	"fsward/explore/modeltest"
)

// The same seed gives the same operations.
func ExampleNewGenerator() {
	g := modeltest.NewGenerator(1)
	for range 4 {
		fmt.Println(g.Op())
	}
	// Output:
	// write(#0, 1, 4096, seed 1)
	// fdatasync(#1)
	// mkdir(/d, 0600)
	// write(#0, 1, 1, seed 1)
}
