// Package vote compares what repairs of several file systems recover of the same tree after the
// same damage of a field that they share (SWIFT, section 4.2). What most recover, and one does not,
// is a failure of that one. Start reading at Shared and Tally.
package vote

import (
	"cmp"
	_ "embed"
	"fmt"
	"maps"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"
)

//go:embed shared.yaml
var shared []byte

// A system has the shared fields of one file system.
type system struct {
	Family string            `yaml:"family"` // of file systems that one program repairs alike
	Fields map[string]string `yaml:"fields"` // group by shared field
	Kinds  map[string]string `yaml:"kinds"`  // place by kind of file
	Volume map[string]string `yaml:"volume"` // group by shared field of the superblock
	Others map[string]string `yaml:"others"` // GROUP@PLACE by "FIELD of KIND"

	places map[Field]place // all of these
}

// A place is where a damage model has a field.
type place struct{ group, at string }

// volume is the kind of the fields of the superblock.
const volume = "volume"

// locate lists the places of all shared fields.
func (s *system) locate() {
	s.places = map[Field]place{}
	for kind, at := range s.Kinds {
		for name, group := range s.Fields {
			s.places[Field{name, kind}] = place{group, at}
		}
	}
	for name, group := range s.Volume {
		s.places[Field{name, volume}] = place{group, ""}
	}
	for text, where := range s.Others {
		name, kind, _ := strings.Cut(text, " of ")
		group, at, _ := strings.Cut(where, "@")
		s.places[Field{name, kind}] = place{group, at}
	}
}

// A Table has the fields that file systems share.
type Table struct{ systems map[string]*system }

// Shared returns the table.
func Shared() (*Table, error) {
	t := &Table{}
	if err := yaml.Unmarshal(shared, &t.systems); err != nil {
		return nil, fmt.Errorf("shared fields: %w", err)
	}
	for _, s := range t.systems {
		s.locate()
	}
	return t, nil
}

// FileSystems lists the file systems of the table.
func (t *Table) FileSystems() []string { return slices.Sorted(maps.Keys(t.systems)) }

// of returns the fields of a file system, which are none if the table does not have it.
func (t *Table) of(fs string) *system {
	if s := t.systems[fs]; s != nil {
		return s
	}
	return &system{}
}

// Family returns the name that file systems which one program repairs alike have in common.
func (t *Table) Family(fs string) string { return t.of(fs).Family }

// A Field is a shared field of a kind of file, or of the volume.
type Field struct{ Name, Kind string }

func (f Field) String() string { return f.Name + " of " + f.Kind }

// Field returns the shared field that a group and a place of a file system's damage model mean.
func (t *Table) Field(fs, group, at string) (Field, bool) {
	for f, p := range t.of(fs).places {
		if p.group == group && p.at == at {
			return f, true
		}
	}
	return Field{}, false
}

// On returns the group and the place of a shared field, if the file system has it.
func (t *Table) On(fs string, f Field) (group, at string, ok bool) {
	p, ok := t.of(fs).places[f]
	return p.group, p.at, ok
}

// Fields lists the shared fields of a file system, in order.
func (t *Table) Fields(fs string) []Field {
	return slices.SortedFunc(maps.Keys(t.of(fs).places), func(a, b Field) int {
		return cmp.Or(cmp.Compare(a.Kind, b.Kind), cmp.Compare(a.Name, b.Name))
	})
}

// A Ballot says what one repair recovered: for each attribute of each file, such as "d/f1 size",
// whether it is as before the damage.
type Ballot map[string]bool

// Whole reports whether a repair recovered everything.
func (b Ballot) Whole() bool {
	for _, kept := range b {
		if !kept {
			return false
		}
	}
	return true
}

// minVoters is the least number of other file systems that must agree: with the one that is judged
// they are three.
const minVoters = 2

// Tally returns the attributes that a repair did not recover, and that most of the others did.
func Tally(mine Ballot, others []Ballot) (list []string) {
	for _, what := range slices.Sorted(maps.Keys(mine)) {
		if mine[what] {
			continue
		}
		yes, no := 0, 0
		for _, b := range others {
			switch kept, known := b[what]; {
			case !known: // a file that this file system does not have
			case kept:
				yes++
			default:
				no++
			}
		}
		if yes >= minVoters && yes > no {
			list = append(list, what)
		}
	}
	return list
}

// Attributes reduces a list of Tally to the different attributes, without paths.
func Attributes(list []string) (names []string) {
	for _, what := range list {
		name := what[strings.LastIndexByte(what, ' ')+1:]
		if !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}

// Translate returns the value of a shared field on another file system: the ends of the range and
// the neighbors of the old value stay what they are, and other values stay the same number.
func Translate(value, old, mask, otherOld, otherMask uint64) uint64 {
	switch value {
	case mask:
		return otherMask
	case mask>>1 + 1:
		return otherMask>>1 + 1
	case mask >> 1:
		return otherMask >> 1
	case (old + 1) & mask:
		return (otherOld + 1) & otherMask
	case (old - 1) & mask:
		return (otherOld - 1) & otherMask
	}
	return value & otherMask
}
