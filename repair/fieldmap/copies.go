package fieldmap

import (
	"encoding/binary"
	"errors"
	"fmt"
)

// Copies describes a number that an image has several times: in copies of a structure, as the
// superblock of XFS in each group, or as the sum of a field and what the image says elsewhere.
type Copies struct {
	Name    string   `yaml:"name"`
	Records []Record `yaml:"records"`
}

// A Record is one place of the number, or a row of them. At, Count, Stride and Add are expressions
// over the fields of the map's places. The number is the field's value and Add.
type Record struct {
	Structure string `yaml:"structure"`
	Field     string `yaml:"field"`
	At        string `yaml:"at"`     // address of the first structure, in bytes
	Count     string `yaml:"count"`  // default: 1
	Stride    string `yaml:"stride"` // distance of two, in bytes
	Add       string `yaml:"add"`    // default: 0
}

// A Copied is a number of an image with its copies, which are equal.
type Copied struct {
	Name  string
	Value uint64
	Each  []Copy
}

// A Copy is one of them.
type Copy struct {
	At    uint64 // address of the field
	add   uint64
	width int
	big   bool
}

// ReadFrom returns the number that another disk has at the place of the copy.
func (c *Copy) ReadFrom(disk Disk) (uint64, error) {
	v, err := readNumber(disk, c.At, c.width, c.big)
	return v + c.add, err
}

// check returns an error if the map has no such structure or field.
func (c *Copies) check(m *Map) error {
	if c.Name == "" || len(c.Records) == 0 {
		return errors.New("copies need a name and records")
	}
	for _, r := range c.Records {
		if r.At == "" || r.field(m) == nil {
			return fmt.Errorf("copies of %s: a record needs a structure, one of its fields, and at",
				c.Name)
		}
	}
	return nil
}

// field returns the field of a record; nil: the map has none.
func (r *Record) field(m *Map) *Field {
	fields := m.Structures[r.Structure].Fields
	for i := range fields {
		if fields[i].Name == r.Field {
			return &fields[i]
		}
	}
	return nil
}

// FindCopies returns the numbers of an image that have copies. It leaves out those whose copies
// differ.
func (m *Map) FindCopies(disk Disk) (list []*Copied, err error) {
	f, top, err := m.find(disk)
	if err != nil {
		return nil, err
	}
	for _, c := range m.Copies {
		one := &Copied{Name: c.Name}
		same := true
		for i := range c.Records {
			copies, err := f.copies(&c.Records[i], top)
			if err != nil {
				return nil, fmt.Errorf("field map %s: copies of %s: %w", m.FileSystem, c.Name, err)
			}
			for _, copied := range copies {
				v, err := copied.ReadFrom(disk)
				if err != nil {
					return nil, fmt.Errorf("field map %s: copies of %s: %w", m.FileSystem, c.Name, err)
				}
				same = same && (len(one.Each) == 0 || v == one.Value)
				one.Value, one.Each = v, append(one.Each, copied)
			}
		}
		if same {
			list = append(list, one)
		}
	}
	return list, nil
}

// copies returns the places of a record.
func (f *finder) copies(r *Record, s *scope) (list []Copy, err error) {
	at, err1 := number(r.At, s, 0)
	count, err2 := number(r.Count, s, 1)
	stride, err3 := number(r.Stride, s, 0)
	add, err4 := number(r.Add, s, 0)
	if err := errors.Join(err1, err2, err3, err4); err != nil {
		return nil, err
	}
	if count > maxCount {
		return nil, fmt.Errorf("%d copies; at most %d are allowed", count, maxCount)
	}
	field := r.field(f.m)
	for n := range count {
		list = append(list, Copy{At: at + n*stride + field.At, add: add, width: field.Width,
			big: f.m.BigEndian})
	}
	return list, nil
}

// readNumber reads a number of up to eight bytes. It fails if the number lies outside the image.
func readNumber(disk Disk, off uint64, width int, big bool) (uint64, error) {
	if off >= disk.Size() || disk.Size()-off < uint64(width) {
		return 0, fmt.Errorf("address %d lies outside the image", off)
	}
	b := make([]byte, 8)
	if big {
		_, err := disk.ReadAt(b[8-width:], int64(off))
		return binary.BigEndian.Uint64(b), err
	}
	_, err := disk.ReadAt(b[:width], int64(off))
	return binary.LittleEndian.Uint64(b), err
}
