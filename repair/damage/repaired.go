package damage

import (
	"encoding/binary"
	"fmt"
	"slices"

	"fsward/interp"
)

// A Repaired is an image of a suite, and the bytes that a repair of it changes: the places of
// SWIFT's model B.
type Repaired struct {
	Suite   string   `json:"image"` // name of the image, relative to the suite's folder
	Changes []Change `json:"changes"`
}

// A Change is a row of bytes that a repair changes.
type Change struct {
	Off uint64 `json:"off"`
	Old []byte `json:"old"`
	New []byte `json:"new"` // as many
}

const (
	maxRepaired = 256 // fields of one image
	inARow      = 16  // fields of one image, before those of the next: its bytes are at hand
	wordBytes   = 4
)

// Changes lists the rows of bytes in which an image differs from another, cut at multiples of four
// bytes, up to the end of the shorter one.
func Changes(old, now interp.Disk) (list []Change, err error) {
	const chunk = 64 << 10
	a, b := make([]byte, chunk), make([]byte, chunk)
	size := min(old.Size(), now.Size())
	for off := uint64(0); off < size; off += chunk {
		n := min(chunk, size-off)
		if _, err := old.ReadAt(a[:n], int64(off)); err != nil {
			return nil, err
		}
		if _, err := now.ReadAt(b[:n], int64(off)); err != nil {
			return nil, err
		}
		for i := uint64(0); i < n; i += wordBytes {
			end := min(i+wordBytes, n)
			list = append(list, changesOfWord(off+i, a[i:end], b[i:end])...)
		}
	}
	return list, nil
}

// changesOfWord lists the rows of different bytes of a word.
func changesOfWord(off uint64, a, b []byte) (list []Change) {
	for i := 0; i < len(a); i++ {
		from := i
		for i < len(a) && a[i] != b[i] {
			i++
		}
		if i > from {
			list = append(list, Change{off + uint64(from), slices.Clone(a[from:i]), slices.Clone(b[from:i])})
		}
	}
	return list
}

// NewRepaired returns SWIFT's model B: it damages the bytes that repairs of a suite's images
// change, further. Each row of changed bytes is a field. Of an image with more than 256 of them,
// 256 are taken, spread over all. Some fields of each image come first, then more of each.
func NewRepaired(s *Suite, list []Repaired) (*Model, error) {
	var fields []*Field
	for from := 0; from < maxRepaired; from += inARow {
		for _, r := range list {
			changes := spread(r.Changes, maxRepaired)
			for _, c := range changes[min(from, len(changes)):min(from+inARow, len(changes))] {
				if len(c.Old) != len(c.New) || len(c.Old) < 1 || len(c.Old) > wordBytes {
					return nil, fmt.Errorf("%s: a change of %d bytes to %d at %d", r.Suite, len(c.Old),
						len(c.New), c.Off)
				}
				fields = append(fields, repairedField(s.image(r.Suite), c))
			}
		}
	}
	if len(fields) == 0 {
		return nil, fmt.Errorf("the program changes no image of %s", s.dir)
	}
	return newModel(nil, fields)
}

// spread returns at most a number of changes, taken from all parts of a list.
func spread(list []Change, most int) (out []Change) {
	if len(list) <= most {
		return list
	}
	for i := range most {
		out = append(out, list[i*len(list)/most])
	}
	return out
}

// repairedField returns the field of changed bytes. Its group is that of the damage that is the
// image.
func repairedField(image *Damage, c Change) *Field {
	f := &Field{Group: image.Group, Place: fmt.Sprintf("byte=%#x", c.Off), Width: len(c.Old),
		Old: little(c.Old), Known: true, given: []uint64{little(c.New)}, image: image.Image}
	f.disk = &Patched{Disk: Hole(c.Off + wordBytes),
		Patches: []interp.Patch{{Off: c.Off, Data: c.Old}}}
	f.set = func(_ interp.Disk, value uint64) (interp.Corruption, error) {
		data := binary.LittleEndian.AppendUint64(nil, value)[:f.Width]
		return interp.Corruption{
			What: fmt.Sprintf("%s, at %#x, where its repair changes %#x to %#x: %#x",
				image.What, c.Off, f.Old, little(c.New), value),
			Patches: []interp.Patch{{Off: c.Off, Data: data}},
		}, nil
	}
	return f
}

// little returns the number of up to eight bytes.
func little(b []byte) uint64 {
	return binary.LittleEndian.Uint64(append(slices.Clone(b), make([]byte, 8-len(b))...))
}

// A Hole is a disk of zeros, of a size in bytes.
type Hole uint64

// Size returns the size in bytes.
func (h Hole) Size() uint64 { return uint64(h) }

// ReadAt reads zeros.
func (h Hole) ReadAt(p []byte, _ int64) (int, error) {
	clear(p)
	return len(p), nil
}
