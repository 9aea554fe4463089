package repair_test

import (
	"fmt"

	"fsward/repair"
)

// A program that claims to have corrected everything must find nothing in the next run.
func ExampleAllowed() {
	fmt.Println(repair.Allowed(repair.Corrected, repair.Consistent))
	fmt.Println(repair.Allowed(repair.Corrected, repair.Corrected))
	// Output:
	// true
	// false
}
