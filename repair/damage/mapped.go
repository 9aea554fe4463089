package damage

import (
	"fmt"

	"fsward/interp"
	"fsward/repair/fieldmap"
)

// Mapped returns the model of an image whose fields a map finds. Checksums are made right.
func Mapped(base interp.Disk, m *fieldmap.Map) (*Model, error) {
	found, seals, err := m.Find(base)
	if err != nil {
		return nil, err
	}
	var fields []*Field
	for _, f := range found {
		field := &Field{Group: f.Group, Place: f.Place, Width: f.Width, off: f.Off}
		if f.Width == 0 {
			field.set = func(disk interp.Disk, _ uint64) (interp.Corruption, error) {
				b, text := f.Flipped()
				return sealed(disk, seals, f.Group+": "+text, fieldmap.Change{Off: f.Off, Data: []byte{b}})
			}
		} else {
			field.Old, field.Known = f.Old, true
			field.set = func(disk interp.Disk, value uint64) (interp.Corruption, error) {
				what := fmt.Sprintf("%s: %d → %d", f.Name(), f.Old, value)
				return sealed(disk, seals, what, fieldmap.Change{Off: f.Off, Data: f.Bytes(value)})
			}
		}
		fields = append(fields, field)
	}
	model, err := newModel(base, fields)
	if err != nil {
		return nil, err
	}
	model.seals = seals
	return model, nil
}

// sealed is a change and those of the checksums over it.
func sealed(base interp.Disk, seals fieldmap.Seals, what string, change fieldmap.Change) (
	interp.Corruption, error) {
	c := interp.Corruption{What: what}
	sums, err := seals.Mend(base, []fieldmap.Change{change})
	if err != nil {
		return c, err
	}
	for _, s := range append([]fieldmap.Change{change}, sums...) {
		c.Patches = append(c.Patches, interp.Patch{Off: s.Off, Data: s.Data})
	}
	return c, nil
}
