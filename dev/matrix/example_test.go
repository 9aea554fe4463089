package matrix_test

import (
	"fmt"

	"fsward/dev/matrix"
)

// Formats lists the file systems that have a matrix.
func ExampleFormats() {
	fmt.Println(matrix.Formats())
	// Output: [btrfs ext3]
}
