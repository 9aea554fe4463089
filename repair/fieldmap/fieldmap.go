// Package fieldmap finds the fields of a file system on an image by a map: a file in YAML that
// says where each structure lies and which fields it has, as SWIFT's XML does (EuroSys 2012,
// figure 5). A place may be computed from fields that were found before. The maps of known file
// systems are in maps/ and part of the executable. Start with Parse and Map.Find.
package fieldmap

import (
	"bytes"
	"embed"
	"errors"
	"fmt"
	"io"

	"go.yaml.in/yaml/v3"
)

//go:embed maps/*.yaml
var maps embed.FS

// Bounds of a map and of what it finds.
const (
	maxFile    = 256 << 10 // bytes of a map
	maxCount   = 1 << 20   // elements of one place
	maxFields  = 1 << 16   // fields that are found
	maxDepth   = 6         // places inside places
	maxVisited = 1 << 22   // elements that are looked at, in all
)

// A Disk is an image.
type Disk interface {
	io.ReaderAt
	Size() uint64
}

// A Map describes where the fields of a file system are.
type Map struct {
	FileSystem string               `yaml:"file_system"`
	BigEndian  bool                 `yaml:"big_endian"`
	Structures map[string]Structure `yaml:"structures"`
	Places     []Place              `yaml:"places"`
	Copies     []Copies             `yaml:"copies"`
}

// A Structure is a list of fields.
type Structure struct {
	Fields    []Field    `yaml:"fields"`
	Checksums []Checksum `yaml:"checksums"`
}

// A Field is a number in a structure. In YAML it is [name, offset, width], in bytes.
type Field struct {
	Name  string
	At    uint64
	Width int
}

// UnmarshalYAML reads [name, offset, width].
func (f *Field) UnmarshalYAML(n *yaml.Node) error {
	var parts []yaml.Node
	if err := n.Decode(&parts); err != nil || len(parts) != 3 {
		return fmt.Errorf("line %d: a field is [name, offset, width]", n.Line)
	}
	return errors.Join(parts[0].Decode(&f.Name), parts[1].Decode(&f.At), parts[2].Decode(&f.Width))
}

// A Place is where one structure, or a row of them, lies. At, Count and Stride are expressions
// over the fields of places before it. NAME.at and NAME.index are the address and the number of the
// element of the place NAME that is around it; at and index are its own.
type Place struct {
	Structure string  `yaml:"structure"`
	Name      string  `yaml:"name"`   // by which expressions call it; default: the structure's
	At        string  `yaml:"at"`     // address of the first, in bytes
	Count     string  `yaml:"count"`  // default: 1
	Stride    string  `yaml:"stride"` // distance of two, in bytes
	If        string  `yaml:"if"`     // the place exists only if this is not 0
	Kinds     []Kind  `yaml:"kinds"`  // one element of each kind is damaged
	Bits      bool    `yaml:"bits"`   // a bitmap of Count bits at At
	Inside    []Place `yaml:"inside"` // places within each element that is damaged
}

// A Kind is a class of elements: those for which When is not 0, and no Kind before it fits.
type Kind struct {
	Name string `yaml:"name"`
	When string `yaml:"when"`
}

// Parse reads a map. It reports unknown keys, and structures that no place may name.
func Parse(text []byte) (*Map, error) {
	if len(text) > maxFile {
		return nil, fmt.Errorf("a map of %d bytes; at most %d are allowed", len(text), maxFile)
	}
	m := &Map{}
	dec := yaml.NewDecoder(bytes.NewReader(text))
	dec.KnownFields(true)
	if err := dec.Decode(m); err != nil {
		return nil, fmt.Errorf("field map: %w", err)
	}
	if m.FileSystem == "" || len(m.Places) == 0 {
		return nil, errors.New("field map: file_system or places is missing")
	}
	for name, s := range m.Structures {
		if err := s.check(); err != nil {
			return nil, fmt.Errorf("field map %s: structure %s: %w", m.FileSystem, name, err)
		}
	}
	if err := m.checkPlaces(m.Places, 0); err != nil {
		return nil, fmt.Errorf("field map %s: %w", m.FileSystem, err)
	}
	for i := range m.Copies {
		if err := m.Copies[i].check(m); err != nil {
			return nil, fmt.Errorf("field map %s: %w", m.FileSystem, err)
		}
	}
	return m, nil
}

func (s *Structure) check() error {
	for _, f := range s.Fields {
		if f.Name == "" || f.Width < 1 || f.Width > 8 || f.At > 1<<16 {
			return fmt.Errorf("field %q: want a name, an offset below 64 KiB and a width of 1 to 8", f.Name)
		}
	}
	for _, c := range s.Checksums {
		if err := c.check(s.Fields); err != nil {
			return err
		}
	}
	return nil
}

func (m *Map) checkPlaces(places []Place, depth int) error {
	if depth == maxDepth {
		return fmt.Errorf("places are nested more than %d deep", maxDepth)
	}
	for i := range places {
		p := &places[i]
		if _, ok := m.Structures[p.Structure]; !ok && !p.Bits {
			return fmt.Errorf("structure %q does not exist", p.Structure)
		}
		if p.At == "" || p.Bits && (p.Name == "" || p.Count == "") {
			return fmt.Errorf("place %q needs at, and for bits name and count", p.label())
		}
		if err := m.checkPlaces(p.Inside, depth+1); err != nil {
			return err
		}
	}
	return nil
}

func (p *Place) label() string {
	if p.Name != "" {
		return p.Name
	}
	return p.Structure
}

// Known returns the map of a file system, or nil if there is none.
func Known(fs string) (*Map, error) {
	text, err := maps.ReadFile("maps/" + fs + ".yaml")
	if err != nil {
		return nil, nil //nolint:nilerr // there is no other reason than that it does not exist
	}
	return Parse(text)
}

// Names lists the file systems that have a map.
func Names() (list []string) {
	entries, err := maps.ReadDir("maps")
	if err != nil {
		return nil // the folder is part of the executable
	}
	for _, e := range entries {
		list = append(list, e.Name()[:len(e.Name())-len(".yaml")])
	}
	return list
}
