// Package damage numbers the damages of an image with which repair programs are tested: SWIFT's
// model A, which changes one field at a time, and its model B, which changes what repairs of test
// images change. Start with NewModel.
package damage

import (
	"errors"
	"fmt"

	"fsward/interp"
)

// A Damage is one change of an image.
type Damage struct {
	Group   string         // the structure and the field: "inode.links_count"
	Spec    string         // what is done, as text that Model.Parse reads
	What    string         // the same for people, with the old value
	Patches []interp.Patch // bytes that differ from the image, in order
	Image   string         // path of the image that is damaged; "": that of the campaign
}

// Bytes returns the number of bytes that the damage changes.
func (d *Damage) Bytes() int {
	n := 0
	for _, p := range d.Patches {
		n += len(p.Data)
	}
	return n
}

// ErrNone means that a damage changes nothing, or is not possible at its place.
var ErrNone = errors.New("the damage changes nothing")

// A Field is one number at one place, or one action on an object, that can be damaged.
type Field struct {
	Group string // structure and field
	Place string // which one, if the group has several: "kind=directory"
	Width int    // in bytes; 0: an action, which has one value
	Old   uint64 // the value on the image
	Known bool   // Old is known
	off   uint64 // on the image, if a map found it
	// set returns the changes of a disk for a value. The error is ErrNone if there are none.
	set   func(disk interp.Disk, value uint64) (interp.Corruption, error)
	given []uint64 // further values to try
	// Of a field of another image than the campaign's: its path and its old bytes.
	image string
	disk  interp.Disk
}

// Name returns the group and the place.
func (f *Field) Name() string {
	if f.Place == "" {
		return f.Group
	}
	return f.Group + "@" + f.Place
}

// Damage sets the field to a value.
func (f *Field) Damage(base interp.Disk, value uint64) (*Damage, error) {
	c, err := f.set(base, value)
	if err != nil {
		return nil, err
	}
	d := &Damage{Group: f.Group, What: c.What, Spec: f.Name(), Image: f.image}
	if f.disk != nil {
		base = f.disk
	}
	if f.Width > 0 {
		d.Spec = fmt.Sprintf("%s=%#x", f.Name(), value)
	}
	if d.Patches, err = Differences(base, c.Patches); err != nil {
		return nil, err
	}
	if len(d.Patches) == 0 {
		return nil, ErrNone
	}
	return d, nil
}

// Differences reduces patches to the runs of bytes that differ from the image.
func Differences(base interp.Disk, patches []interp.Patch) (out []interp.Patch, err error) {
	for _, p := range patches {
		was := make([]byte, len(p.Data))
		if _, err := base.ReadAt(was, int64(p.Off)); err != nil {
			return nil, fmt.Errorf("reading what a damage changes: %w", err)
		}
		for i := 0; i < len(was); {
			if was[i] == p.Data[i] {
				i++
				continue
			}
			from := i
			for i < len(was) && was[i] != p.Data[i] {
				i++
			}
			out = append(out, interp.Patch{Off: p.Off + uint64(from), Data: p.Data[from:i]})
		}
	}
	return out, nil
}
