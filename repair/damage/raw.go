package damage

import (
	"encoding/binary"
	"fmt"

	"fsward/interp"
)

// maxRawFields bounds the words that Raw damages.
const maxRawFields = 1 << 14

// Raw returns the model of an image whose format is not known: its fields are the words of 32 bits
// that are not 0, sector by sector. Of each row of equal sectors the first counts.
func Raw(base interp.Disk) (*Model, error) {
	const sector = 512
	var fields []*Field
	last := make([]byte, sector)
	for off := uint64(0); off+sector <= base.Size() && len(fields) < maxRawFields; off += sector {
		b := make([]byte, sector)
		if _, err := base.ReadAt(b, int64(off)); err != nil {
			return nil, err
		}
		if string(b) == string(last) {
			continue
		}
		last = b
		for at := 0; at < sector; at += 4 {
			if old := binary.LittleEndian.Uint32(b[at:]); old != 0 {
				fields = append(fields, rawField(off, uint64(at), old))
			}
		}
	}
	return newModel(base, fields)
}

func rawField(sector, at uint64, old uint32) *Field {
	f := &Field{Group: fmt.Sprintf("sector.%#x", sector), Place: fmt.Sprintf("byte=%#x", at), Width: 4,
		Old: uint64(old), Known: true}
	f.set = func(_ interp.Disk, value uint64) (interp.Corruption, error) {
		data := binary.LittleEndian.AppendUint32(nil, uint32(value))
		return interp.Corruption{
			What:    fmt.Sprintf("word at %#x: %#x → %#x", sector+at, old, value),
			Patches: []interp.Patch{{Off: sector + at, Data: data}},
		}, nil
	}
	return f
}
