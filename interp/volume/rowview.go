package volume

import (
	"iter"
	"slices"

	"fsward/change"
)

// rowView answers queries about a state from its rows.
type rowView struct{ rows []row }

func (v *rowView) find(o change.Object) (int, bool) {
	return slices.BinarySearchFunc(v.rows, row{Object: o}, compareRows)
}

// Get returns a field of an object.
func (v *rowView) Get(o change.Object, f change.Field) (change.Value, bool, error) {
	i, ok := v.find(o)
	if !ok {
		return change.Value{}, false, nil
	}
	if f == change.FieldObject {
		return change.Present, true, nil
	}
	at := slices.Index(schema.Kinds[o.Kind].Fields, f)
	if at < 0 || v.rows[i].values[at].IsNull() {
		return change.Value{}, false, nil
	}
	return v.rows[i].values[at], true, nil
}

// Values returns fields of an object.
func (v *rowView) Values(o change.Object, fields []change.Field, values []change.Value) error {
	for i, f := range fields {
		values[i], _, _ = v.Get(o, f)
	}
	return nil
}

// Exists reports whether an object exists.
func (v *rowView) Exists(o change.Object) (bool, error) {
	_, ok := v.find(o)
	return ok, nil
}

// between returns the rows from lo to hi.
func (v *rowView) between(lo, hi change.Object) []row {
	i, _ := v.find(lo)
	j, ok := v.find(hi)
	if ok {
		j++
	}
	if i >= j {
		return nil
	}
	return v.rows[i:j]
}

// Scan yields the objects from lo to hi.
func (v *rowView) Scan(lo, hi change.Object) iter.Seq2[change.Object, error] {
	return func(yield func(change.Object, error) bool) {
		for _, r := range v.between(lo, hi) {
			if !yield(r.Object, nil) {
				return
			}
		}
	}
}

// ScanDown yields the objects from hi to lo.
func (v *rowView) ScanDown(lo, hi change.Object) iter.Seq2[change.Object, error] {
	return func(yield func(change.Object, error) bool) {
		for _, r := range slices.Backward(v.between(lo, hi)) {
			if !yield(r.Object, nil) {
				return
			}
		}
	}
}

// Previous returns the object before o, of the same kind.
func (v *rowView) Previous(o change.Object) (change.Object, bool, error) {
	i, _ := v.find(o)
	if i == 0 || v.rows[i-1].Kind != o.Kind {
		return change.Object{}, false, nil
	}
	return v.rows[i-1].Object, true, nil
}

// Next returns the object after o, of the same kind.
func (v *rowView) Next(o change.Object) (change.Object, bool, error) {
	i, ok := v.find(o)
	if ok {
		i++
	}
	if i == len(v.rows) || v.rows[i].Kind != o.Kind {
		return change.Object{}, false, nil
	}
	return v.rows[i].Object, true, nil
}

// Fork returns a View of the same state.
func (v *rowView) Fork(*change.Names) change.View { return v }

// difference appends the records that lead from one state to another.
func difference(txn *change.Txn, before, after []row) {
	for len(before) > 0 || len(after) > 0 {
		var order int
		switch {
		case len(before) == 0:
			order = 1
		case len(after) == 0:
			order = -1
		default:
			order = compareRows(before[0], after[0])
		}
		var old, now *row
		if order <= 0 {
			old, before = &before[0], before[1:]
		}
		if order >= 0 {
			now, after = &after[0], after[1:]
		}
		recordsOf(txn, old, now)
	}
}

// recordsOf appends the records of one object. old or now is nil if it does not exist then.
func recordsOf(txn *change.Txn, old, now *row) {
	o, first := change.Object{}, change.Record{}
	if old != nil {
		o, first.Old = old.Object, change.Present
	}
	if now != nil {
		o, first.New = now.Object, change.Present
	}
	first.Object = o
	at := len(txn.Records)
	txn.Append(first)
	for i, f := range schema.Kinds[o.Kind].Fields {
		r := change.Record{Object: o, Field: f}
		if old != nil {
			r.Old = old.values[i]
		}
		if now != nil {
			r.New = now.values[i]
		}
		if r.Old != r.New {
			txn.Append(r)
		}
	}
	if len(txn.Records) == at+1 && old != nil && now != nil {
		txn.Records = txn.Records[:at]
	}
}

var _ change.Forker = (*rowView)(nil)
