package linux_test

import (
	"fmt"
	"slices"

	"fsward/repair/linux"
)

func ExampleFileSystems() {
	fmt.Println(slices.Contains(linux.FileSystems(), "ext4"))
	// Output: true
}
