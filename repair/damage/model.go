package damage

import (
	"fmt"
	"regexp"
	"slices"

	"fsward/interp"
	"fsward/interp/detect"
	"fsward/repair/fieldmap"
)

// A Model numbers the damages of an image from 0. The first are one value of each field, then
// another one, and so on, so that a short test reaches each field. Fields of one byte, and then
// those of two, follow with all their values. A Model is used by one goroutine.
type Model struct {
	base     interp.Disk
	fields   []*Field
	seals    fieldmap.Seals // checksums of the image; none if it has no map
	nodeSize uint32         // of Btrfs with checksums of CRC32C, in bytes
	first    []choice       // interesting values
	one      []*Field       // of one byte
	two      []*Field
	pairs    bool // damages are of two fields at once
}

type choice struct {
	field *Field
	value uint64
}

// actionRounds is the number of rounds over which actions, which have one value, are spread.
const actionRounds = 16

// newModel returns the model of fields.
func newModel(base interp.Disk, fields []*Field) (*Model, error) {
	if len(fields) == 0 {
		return nil, fmt.Errorf("the image has no field that can be damaged")
	}
	m := &Model{base: base, fields: fields}
	given := donors(fields)
	rounds := make([][]choice, 0, actionRounds)
	at := func(round int) *[]choice {
		for len(rounds) <= round {
			rounds = append(rounds, nil)
		}
		return &rounds[round]
	}
	actions := 0
	for _, f := range fields {
		from := 0
		switch f.Width {
		case 0: // the bits of a bitmap are many
			from = actions % actionRounds
			actions++
		case 1:
			m.one = append(m.one, f)
		case 2:
			m.two = append(m.two, f)
		}
		for i, v := range f.interesting(given[f.Group]) {
			r := at(from + i)
			*r = append(*r, choice{f, v})
		}
	}
	m.first = slices.Concat(rounds...)
	return m, nil
}

// Field returns the field of a group at a place, or nil.
func (m *Model) Field(group, place string) *Field {
	for _, f := range m.fields {
		if f.Group == group && f.Place == place {
			return f
		}
	}
	return nil
}

// Only returns the model of the fields whose names, GROUP or GROUP@PLACE, match a pattern.
func (m *Model) Only(pattern *regexp.Regexp) (*Model, error) {
	var fields []*Field
	for _, f := range m.fields {
		if pattern.MatchString(f.Name()) {
			fields = append(fields, f)
		}
	}
	if len(fields) == 0 {
		return nil, fmt.Errorf("no field of the image matches %q; one is %s", pattern,
			m.fields[0].Name())
	}
	only, err := newModel(m.base, fields)
	if err != nil {
		return nil, err
	}
	only.seals, only.nodeSize = m.seals, m.nodeSize
	return only, nil
}

// Fields returns the number of fields, and of groups of them.
func (m *Model) Fields() (fields, groups int) {
	seen := map[string]bool{}
	for _, f := range m.fields {
		seen[f.Group] = true
	}
	return len(m.fields), len(seen)
}

// First returns the number of damages before fields are enumerated whole.
func (m *Model) First() uint64 {
	n := uint64(len(m.first))
	if m.pairs {
		return n * (n - 1)
	}
	return n
}

// Count returns the number of damages.
func (m *Model) Count() uint64 {
	if m.pairs {
		return m.First()
	}
	return m.First() + uint64(len(m.one))<<8 + uint64(len(m.two))<<16
}

// At returns the damage with a number. The error is ErrNone if it changes nothing.
func (m *Model) At(n uint64) (*Damage, error) {
	if m.pairs {
		return m.pair(n)
	}
	c, err := m.choose(n)
	if err != nil {
		return nil, err
	}
	if c.field.Known && c.field.Width > 0 && c.value == c.field.Old {
		return nil, ErrNone
	}
	return c.field.Damage(m.base, c.value)
}

func (m *Model) choose(n uint64) (choice, error) {
	if n < m.First() {
		return m.first[n], nil
	}
	n -= m.First()
	if k := uint64(len(m.one)); n < k<<8 {
		return choice{m.one[n%k], n / k}, nil
	} else {
		n -= k << 8
	}
	if k := uint64(len(m.two)); n < k<<16 {
		// An odd factor permutes the values, so that a part of them is spread over the range.
		return choice{m.two[n%k], n / k * 40503 & 0xffff}, nil
	}
	return choice{}, fmt.Errorf("damage %d of %d", n, m.Count())
}

// NewModel returns the model of an image: by the map of its file system if there is one, by
// fsward's interpreter of it, or else word by word.
func NewModel(base interp.Disk, fs string) (*Model, error) {
	m, err := fieldmap.Known(fs)
	switch {
	case err != nil:
		return nil, err
	case m != nil:
		return Mapped(base, m)
	case detect.Alterables(Interpreter(fs)) != nil:
		return Interpreted(base, Interpreter(fs))
	}
	return Raw(base)
}

// Interpreter returns the name of fsward's interpreter of a file system, if it has one.
func Interpreter(fs string) string {
	if fs == "ext2" {
		return "ext3" // which knows ext2 as ext3 without a journal
	}
	return fs
}
