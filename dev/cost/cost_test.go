package cost

import (
	"math"
	"testing"

	"fsward/change"
)

func TestSlope(t *testing.T) {
	x := []float64{1, 2, 4}
	for _, tc := range []struct {
		y    []float64
		want float64
	}{
		{[]float64{3, 6, 12}, 1},
		{[]float64{3, 12, 48}, 2},
		{[]float64{5, 5, 5}, 0},
		{[]float64{1, 2, 8}, 1.5},
	} {
		if got := Slope(x, tc.y); math.Abs(got-tc.want) > 1e-9 {
			t.Errorf("the slope of %v is %v, want %v", tc.y, got, tc.want)
		}
	}
}

func TestWorse(t *testing.T) {
	order := []change.Outcome{change.Holds, change.Undecided, change.Violated}
	for i, a := range order {
		for j, b := range order {
			if got := worse(a, b); got != order[max(i, j)] {
				t.Errorf("the worse of %s and %s is %s", a, b, got)
			}
		}
	}
}
