package damage

import (
	"errors"
	"slices"

	"fsward/interp"
	"fsward/repair/fieldmap"
)

// A Place is where a number stands on the image.
type Place struct {
	Name  string // of the field
	Off   uint64 // in bytes
	Width int    // in bytes
}

// Places lists the fields whose values can be written in place, and the checksums that are to be
// made right then. A field under a checksum that is not known is not among them.
func (m *Model) Places() (list []Place, seals fieldmap.Seals, err error) {
	seals = m.seals
	for _, f := range m.fields {
		if f.Width == 0 || !f.Known {
			continue
		}
		d, err := f.Damage(m.base, ^f.Old&f.Mask())
		if errors.Is(err, ErrNone) {
			continue
		}
		if err != nil {
			return nil, nil, err
		}
		switch {
		case m.seals != nil:
			list = append(list, Place{f.Name(), f.off, f.Width})
		case len(d.Patches) == 1 && len(d.Patches[0].Data) == f.Width:
			list = append(list, Place{f.Name(), d.Patches[0].Off, f.Width})
		case m.nodeSize > 0:
			if off, seal, ok := m.inBlock(f, d.Patches); ok {
				list = append(list, Place{f.Name(), off, f.Width})
				seals = with(seals, seal)
			}
		}
	}
	return list, seals, nil
}

// Sizes of blocks of Btrfs, in bytes: the superblock, and the area of the checksum at the begin of
// each block.
const (
	superAt   = 64 << 10
	superSize = 4096
	csumArea  = 32
)

// inBlock returns where the first copy of a field of Btrfs stands, and the checksum of its block. A
// damage of the field changes both.
func (m *Model) inBlock(f *Field, patches []interp.Patch) (off uint64, seal fieldmap.Seal,
	ok bool) {
	block := patches[0].Off
	if block%superSize != 0 || len(patches[0].Data) > 4 {
		return 0, seal, false
	}
	size := uint64(m.nodeSize)
	if block == superAt {
		size = superSize
	}
	for _, p := range patches[1:] {
		if len(p.Data) == f.Width && p.Off >= block+csumArea && p.Off+uint64(f.Width) <= block+size {
			return p.Off, fieldmap.Seal{Kind: "crc32c", Off: block, Width: 4, From: block + csumArea,
				Len: size - csumArea}, true
		}
	}
	return 0, seal, false
}

// with adds a checksum, once.
func with(seals fieldmap.Seals, seal fieldmap.Seal) fieldmap.Seals {
	if slices.Contains(seals, seal) {
		return seals
	}
	return append(seals, seal)
}
