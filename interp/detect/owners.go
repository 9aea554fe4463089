package detect

import (
	"slices"

	"fsward/interp"
)

// followed is a file system, with the disk that it is on.
type followed struct {
	interp.Interpreter
	disk int // its disk, if it cannot have several
}

// An owner is an interpreter of a file system that can have several disks. Owns and Disks answer
// for the state after the write under observation.
type owner interface {
	Owns(disk int) bool
	Disks() []int // in any order
}

func (f *followed) owns(disk int) bool {
	if o, ok := f.Interpreter.(owner); ok {
		return o.Owns(disk)
	}
	return f.FS() != "" && f.disk == disk
}

// disks returns the disks of the file system, ascending.
func (f *followed) disks() []int {
	if o, ok := f.Interpreter.(owner); ok {
		return slices.Sorted(slices.Values(o.Disks()))
	}
	return []int{f.disk}
}

// owners are file systems, of which a guest with many volumes has thousands. Each commit and each
// flush asks for the owners of all of them.
type owners struct {
	list    []*followed // in the order in which they were found
	several []*followed // those that can have several disks
	on      map[int]*followed
}

// add adds a file system.
func (o *owners) add(in *followed) {
	o.list = append(o.list, in)
	if _, ok := in.Interpreter.(owner); ok {
		o.several = append(o.several, in)
	}
	if o.on == nil {
		o.on = map[int]*followed{}
	}
	o.on[in.disk] = in
}

// remove removes file systems.
func (o *owners) remove(gone func(*followed) bool) {
	o.list = slices.DeleteFunc(o.list, func(in *followed) bool {
		is := gone(in)
		if is && o.on[in.disk] == in {
			delete(o.on, in.disk)
		}
		return is
	})
	o.several = slices.DeleteFunc(o.several, gone)
}

// of returns the file system to which a disk belongs, or nil: the one that was found on the disk,
// or one that has several.
func (o *owners) of(disk int) *followed {
	if in := o.on[disk]; in != nil && in.owns(disk) {
		return in
	}
	for _, in := range o.several {
		if in.owns(disk) {
			return in
		}
	}
	return nil
}
