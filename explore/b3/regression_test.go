package b3

import (
	"strings"
	"testing"
)

// Each regression workload says what it does, can be completed, and ends with a persistence point.
// What generic-098 looks for shows after the unmount.
func TestRegressions(t *testing.T) {
	list, err := Regressions()
	if err != nil || len(list) != 86 {
		t.Fatalf("%d workloads, %v", len(list), err)
	}
	for _, r := range list {
		points := r.Points()
		if len(points) == 0 || points[len(points)-1] != len(r.Workload)-1 && r.Name != "generic-098" ||
			!strings.HasPrefix(r.Text, "# ") {
			t.Errorf("%s: %s", r.Name, r.Text)
		}
		done := r.Complete()
		if _, err := Parse(done.String()); err != nil {
			t.Errorf("%s: %v", r.Name, err)
		}
		if r.Name != "generic-041" {
			continue
		}
		if len(r.Workload) != 3006 || r.Workload[3000].String() != "link foo l2999" {
			t.Errorf("%s has %d steps, %s", r.Name, len(r.Workload), r.Workload[3000])
		}
	}
}
