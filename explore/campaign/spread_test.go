package campaign

import (
	"slices"
	"testing"
)

// starts returns where the units of a campaign begin, in their order.
func starts(t *testing.T, d *Definition) (list []uint64) {
	t.Helper()
	err := d.Units(func(u Unit) error {
		list = append(list, u.From)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return list
}

// TestSpread holds that a campaign that is spread has the units of one that is not, and that the
// first of them leave no large part of it out, wherever it is stopped.
func TestSpread(t *testing.T) {
	for _, size := range []uint64{1, 2, 3, 4, 5, 6, 8, 13, 64, 100, 377, 1000, 3970, 65536} {
		d := Definition{First: 7, Last: 7 + 3*size - 1, Unit: 3}
		inOrder := starts(t, &d)
		d.Spread = true
		spread := starts(t, &d)
		if !slices.Equal(slices.Sorted(slices.Values(spread)), inOrder) {
			t.Fatalf("%d units: other units when they are spread", size)
		}
		for stopped := uint64(1); stopped < size; stopped = stopped*5/4 + 1 {
			done := append(slices.Sorted(slices.Values(spread[:stopped])), d.Last+1)
			gap := done[0] - d.First
			for i := range stopped {
				gap = max(gap, done[i+1]-done[i])
			}
			if limit := 3 * (3*size/stopped + 2); gap > limit {
				t.Errorf("the first %d of %d units leave out %d indexes in a row: more than %d",
					stopped, size, gap, limit)
			}
		}
	}
}

// TestSpreadBound holds that a campaign is not spread over more units than its tally can have.
func TestSpreadBound(t *testing.T) {
	d := NewDefinition("long", "b3")
	d.Last = maxSpread
	k, err := KindOf("b3")
	if err != nil {
		t.Fatal(err)
	}
	if err := d.checkIndexes(k); err != nil {
		t.Errorf("in order: %v", err)
	}
	d.Spread = true
	if err := d.checkIndexes(k); err == nil {
		t.Error("one unit too many was spread")
	}
	d.Unit = 2
	if err := d.checkIndexes(k); err != nil {
		t.Errorf("half as many units: %v", err)
	}
}
