package damage

import "errors"

// A Place is where a number stands on the image.
type Place struct {
	Name  string // of the field
	Off   uint64 // in bytes
	Width int    // in bytes
}

// Places lists the fields whose values can be written in place. Without a map, a field that a
// checksum covers is not among them, because setting it changes other bytes too.
func (m *Model) Places() (list []Place, err error) {
	for _, f := range m.fields {
		if f.Width == 0 || !f.Known {
			continue
		}
		d, err := f.Damage(m.base, ^f.Old&f.Mask())
		if errors.Is(err, ErrNone) {
			continue
		}
		if err != nil {
			return nil, err
		}
		switch {
		case m.seals != nil:
			list = append(list, Place{f.Name(), f.off, f.Width})
		case len(d.Patches) == 1 && len(d.Patches[0].Data) == f.Width:
			list = append(list, Place{f.Name(), d.Patches[0].Off, f.Width})
		}
	}
	return list, nil
}
