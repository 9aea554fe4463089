package adapter_test

import (
	"fmt"

	"fsward/repair/adapter"
)

// A description says what an exit status claims.
func ExampleProgram_Outcome() {
	p, _, err := adapter.Find("e2fsck", "ext3")
	if err != nil {
		fmt.Println(err)
		return
	}
	mode := &p.Repairs[0]
	for _, status := range []int{0, 1, 4, 8} {
		fmt.Println(status, p.Outcome(mode, status, nil))
	}
	// Output:
	// 0 consistent
	// 1 corrected
	// 4 left
	// 8 operational
}
