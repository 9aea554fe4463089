package damage

import (
	"fmt"

	"fsward/interp"
	"fsward/repair/fieldmap"
)

// Mapped returns the model of an image whose fields a map finds.
func Mapped(base interp.Disk, m *fieldmap.Map) (*Model, error) {
	found, err := m.Find(base)
	if err != nil {
		return nil, err
	}
	var fields []*Field
	for _, f := range found {
		if f.Width == 0 {
			fields = append(fields, &Field{Group: f.Group, Place: f.Place,
				set: func(interp.Disk, uint64) (interp.Corruption, error) {
					b, text := f.Flipped()
					return interp.Corruption{What: f.Group + ": " + text,
						Patches: []interp.Patch{{Off: f.Off, Data: []byte{b}}}}, nil
				}})
			continue
		}
		fields = append(fields, &Field{Group: f.Group, Place: f.Place, Width: f.Width, Old: f.Old,
			Known: true, set: func(disk interp.Disk, value uint64) (interp.Corruption, error) {
				return setMapped(disk, f, value)
			}})
	}
	return newModel(base, fields)
}

// setMapped sets a field, and makes the checksums over it right.
func setMapped(base interp.Disk, f *fieldmap.Found, value uint64) (interp.Corruption, error) {
	name := f.Group
	if f.Place != "" {
		name += " of " + f.Place
	}
	c := interp.Corruption{What: fmt.Sprintf("%s: %d → %d", name, f.Old, value)}
	change := fieldmap.Change{Off: f.Off, Data: f.Bytes(value)}
	sums, err := f.Seal(base, change)
	if err != nil {
		return c, err
	}
	for _, s := range append([]fieldmap.Change{change}, sums...) {
		c.Patches = append(c.Patches, interp.Patch{Off: s.Off, Data: s.Data})
	}
	return c, nil
}
