package btrfs

import (
	"errors"

	"fsward/change"
)

// A faultList holds what is wrong with a new state, or why a comparison with it is undecided.
type faultList struct {
	faults  []change.Violation // of structure, at most maxFaults
	unknown error
}

// fault notes an error of the new state: a violation of structure, or the reason why the comparison
// is undecided.
func (f *faultList) fault(err error) {
	if e, ok := errors.AsType[*structureError](err); ok {
		if len(f.faults) < maxFaults {
			f.faults = append(f.faults, e.v)
		}
		return
	}
	if f.unknown == nil {
		f.unknown = err
	}
}

// failed reports whether the records must not be used.
func (f *faultList) failed() bool { return len(f.faults) > 0 || f.unknown != nil }

// failedHard reports whether the comparison should end: it is undecided, or has found enough
// faults.
func (f *faultList) failedHard() bool { return f.unknown != nil || len(f.faults) >= maxFaults }

// err returns the first fault of the new state, or the reason why it is undecided, or nil.
func (f *faultList) err() error {
	if len(f.faults) > 0 {
		return &structureError{f.faults[0]}
	}
	return f.unknown
}

// refuses reports whether another comparison of the same states would fail, too. It may succeed if
// this one was stopped, or lacked memory, or counted the room for the records of the superblock.
func (f *faultList) refuses() bool {
	if f.unknown == nil {
		return len(f.faults) > 0
	}
	e, ok := errors.AsType[*budgetError](f.unknown)
	return ok && e.limit != maxRecords
}

// add appends the faults of another part of the same comparison.
func (f *faultList) add(other *faultList) {
	for _, v := range other.faults {
		if len(f.faults) < maxFaults {
			f.faults = append(f.faults, v)
		}
	}
	if f.unknown == nil {
		f.unknown = other.unknown
	}
}
