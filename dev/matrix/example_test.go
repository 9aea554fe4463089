package matrix_test

import (
	"fmt"

	"fsward/dev/matrix"
)

func ExampleFormats() {
	fmt.Println(matrix.Formats())
	// Output: [btrfs ext3]
}
