package shape_test

import (
	"fmt"

	"fsward/dev/shape"
)

// The sizes of a shape grow by factors of four.
func Example() {
	for _, s := range shape.All {
		if s.Name == "btrfs: n new small files" {
			fmt.Println(s.Name, s.Sizes(3, false))
		}
	}
	// Output: btrfs: n new small files [5000 20000 80000]
}
