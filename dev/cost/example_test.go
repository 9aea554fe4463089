package cost_test

import (
	"fmt"

	"fsward/dev/cost"
)

// A cost that quadruples when the size doubles has slope 2.
func ExampleSlope() {
	fmt.Printf("%.1f\n", cost.Slope([]float64{1, 2, 4}, []float64{3, 12, 48}))
	// Output: 2.0
}
