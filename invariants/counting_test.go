package invariants_test

import (
	"iter"

	"fsward/change"
)

// countingView counts the questions to a view.
type countingView struct {
	change.View
	lookups int // Get, Exists, Previous, Next
	scans   int
	objects int // yielded by scans
}

func (v *countingView) Get(o change.Object, f change.Field) (change.Value, bool, error) {
	v.lookups++
	return v.View.Get(o, f)
}

func (v *countingView) Values(o change.Object, fields []change.Field, values []change.Value) error {
	v.lookups++
	return v.View.Values(o, fields, values)
}

func (v *countingView) Exists(o change.Object) (bool, error) {
	v.lookups++
	return v.View.Exists(o)
}

func (v *countingView) Previous(o change.Object) (change.Object, bool, error) {
	v.lookups++
	return v.View.Previous(o)
}

func (v *countingView) Next(o change.Object) (change.Object, bool, error) {
	v.lookups++
	return v.View.Next(o)
}

func (v *countingView) counted(objects iter.Seq2[change.Object, error]) iter.Seq2[change.Object,
	error] {
	v.scans++
	return func(yield func(change.Object, error) bool) {
		for o, err := range objects {
			v.objects++
			if !yield(o, err) {
				return
			}
		}
	}
}

func (v *countingView) Scan(lo, hi change.Object) iter.Seq2[change.Object, error] {
	return v.counted(v.View.Scan(lo, hi))
}

func (v *countingView) ScanDown(lo, hi change.Object) iter.Seq2[change.Object, error] {
	return v.counted(v.View.ScanDown(lo, hi))
}
