package fieldmap

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math/bits"
)

// A Found is a field at its place on an image, or one bit of a bitmap.
type Found struct {
	Group string // structure and field
	Place string // kind or number of the element; "" if there is only one
	Off   uint64
	Width int
	Old   uint64
	Bit   uint8 // to flip, in the byte at Off, if Width is 0
	big   bool
}

// Name returns the group and the place, for people.
func (f *Found) Name() string {
	if f.Place == "" {
		return f.Group
	}
	return f.Group + " of " + f.Place
}

// Bytes returns the bytes of the field with a value.
func (f *Found) Bytes(value uint64) []byte {
	b := make([]byte, 8)
	if f.big {
		binary.BigEndian.PutUint64(b, value)
		return b[8-f.Width:]
	}
	binary.LittleEndian.PutUint64(b, value)
	return b[:f.Width]
}

// finder finds the fields of a map on an image.
type finder struct {
	m       *Map
	disk    Disk
	found   []*Found
	seals   Seals
	visited int
}

// A scope has the values that expressions can name.
type scope struct {
	outer  *scope
	values map[string]uint64
}

func (s *scope) look(name string) (uint64, error) {
	for ; s != nil; s = s.outer {
		if v, ok := s.values[name]; ok {
			return v, nil
		}
	}
	return 0, fmt.Errorf("%s is not the name of a field", name)
}

// Find returns the fields and the checksums of the image. It reports places that lie outside it.
func (m *Map) Find(disk Disk) ([]*Found, Seals, error) {
	f, _, err := m.find(disk)
	if err != nil {
		return nil, nil, err
	}
	return f.found, f.seals, nil
}

// find follows the places of the map. The scope has the values of their fields.
func (m *Map) find(disk Disk) (*finder, *scope, error) {
	f := &finder{m: m, disk: disk}
	top := &scope{values: map[string]uint64{"size": disk.Size()}}
	for i := range m.Places {
		if err := f.place(&m.Places[i], top, ""); err != nil {
			err = fmt.Errorf("field map %s: place %s: %w", m.FileSystem, m.Places[i].label(), err)
			return nil, nil, err
		}
	}
	return f, top, nil
}

// number computes an expression, or returns a default for an empty one.
func number(text string, s *scope, absent uint64) (uint64, error) {
	if text == "" {
		return absent, nil
	}
	return eval(text, s.look)
}

// place adds the fields of a place. where describes the elements around it.
func (f *finder) place(p *Place, s *scope, where string) error {
	is, err := number(p.If, s, 1)
	if err != nil || is == 0 {
		return err
	}
	at, err1 := number(p.At, s, 0)
	count, err2 := number(p.Count, s, 1)
	stride, err3 := number(p.Stride, s, 0)
	if err := errors.Join(err1, err2, err3); err != nil {
		return err
	}
	if count > maxCount {
		return fmt.Errorf("%d elements; at most %d are allowed", count, maxCount)
	}
	if p.Bits {
		return f.bits(p, at, count)
	}
	seen := map[string]bool{}
	for n := range count {
		if f.visited++; f.visited > maxVisited {
			return fmt.Errorf("more than %d elements", maxVisited)
		}
		inner := &scope{outer: s, values: map[string]uint64{"index": n, "at": at + n*stride}}
		inner.values[p.label()+".index"], inner.values[p.label()+".at"] = n, at+n*stride
		if err := f.read(p, inner); err != nil {
			return err
		}
		kind, err := kindOf(p, inner)
		if err != nil {
			return err
		}
		if len(p.Kinds) > 0 && (kind == "" || seen[kind]) {
			continue
		}
		seen[kind] = true
		if err := f.element(p, inner, s, n, count, joined(where, kind)); err != nil {
			return err
		}
		if len(p.Kinds) > 0 && len(seen) == len(p.Kinds) {
			return nil
		}
	}
	return nil
}

func joined(where, kind string) string {
	if where == "" || kind == "" {
		return where + kind
	}
	return where + "/" + kind
}

// read gives the scope of an element the values of its fields.
func (f *finder) read(p *Place, s *scope) error {
	for _, field := range f.m.Structures[p.Structure].Fields {
		v, err := f.value(s.values["at"]+field.At, field.Width)
		if err != nil {
			return fmt.Errorf("%s.%s: %w", p.Structure, field.Name, err)
		}
		s.values[field.Name] = v
	}
	return nil
}

func (f *finder) value(off uint64, width int) (uint64, error) {
	return readNumber(f.disk, off, width, f.m.BigEndian)
}

func kindOf(p *Place, s *scope) (string, error) {
	for _, k := range p.Kinds {
		is, err := eval(k.When, s.look)
		if err != nil {
			return "", err
		}
		if is != 0 {
			return k.Name, nil
		}
	}
	return "", nil
}

// element adds the fields of one element, and the places inside it. Its fields get names in the
// scope around it, so that later places can use them.
func (f *finder) element(p *Place, inner, outer *scope, n, count uint64, where string) error {
	structure := f.m.Structures[p.Structure]
	if p.Name != "" { // a second place of the same structure
		where = joined(where, p.Name)
	}
	if err := f.seal(&structure, inner); err != nil {
		return err
	}
	if count > 1 && len(p.Kinds) == 0 {
		where = joined(where, fmt.Sprintf("%d", n))
	}
	for _, field := range structure.Fields {
		if len(f.found) == maxFields {
			return fmt.Errorf("more than %d fields", maxFields)
		}
		found := &Found{Group: p.Structure + "." + field.Name, Place: where, Width: field.Width,
			Off: inner.values["at"] + field.At, Old: inner.values[field.Name], big: f.m.BigEndian}
		f.found = append(f.found, found)
		if n == 0 || len(p.Kinds) > 0 {
			outer.values[p.label()+"."+field.Name] = inner.values[field.Name]
		}
	}
	for i := range p.Inside {
		if err := f.place(&p.Inside[i], inner, where); err != nil {
			return fmt.Errorf("%s: %w", p.Inside[i].label(), err)
		}
	}
	return nil
}

// bits adds the used bits of a bitmap and one unused bit, as in SWIFT's table 5.
func (f *finder) bits(p *Place, at, count uint64) error {
	unused := false
	for n := uint64(0); n < count; n += 8 {
		b, err := f.value(at+n/8, 1)
		if err != nil {
			return err
		}
		for bit := uint64(0); bit < min(8, count-n); bit++ {
			used := b>>bit&1 != 0
			if !used && unused {
				continue
			}
			unused = unused || !used
			if len(f.found) == maxFields {
				return fmt.Errorf("more than %d fields", maxFields)
			}
			f.found = append(f.found, &Found{Group: p.Name + "!flip", Place: fmt.Sprintf("bit=%d", n+bit),
				Off: at + n/8, Bit: uint8(1) << bit, Old: b})
		}
	}
	return nil
}

// Flipped returns the byte of a bitmap with the bit flipped, and what that means.
func (f *Found) Flipped() (b byte, text string) {
	b = byte(f.Old) ^ f.Bit
	verb := "cleared"
	if b&f.Bit != 0 {
		verb = "set"
	}
	return b, fmt.Sprintf("bit %d of the byte at %d %s", bits.TrailingZeros8(f.Bit), f.Off, verb)
}
