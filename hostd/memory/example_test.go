package memory_test

import (
	"fmt"

	"fsward/hostd/memory"
)

// A daemon of two disks with the defaults.
func ExampleLimits_Total() {
	var m memory.Limits
	fmt.Println(m.Total(2)>>20, "MiB")
	// Output: 1280 MiB
}
