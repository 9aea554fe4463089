package change

import (
	"fmt"
	"math"
	"strconv"
	"strings"
)

// WordID is an index into Schema.Words.
type WordID uint16

// WordPresent is the word of FieldObject, and the first of every schema.
const WordPresent WordID = 0

// Shape says how the identifier of an object is written, and what Object's numbers are in it.
type Shape uint8

const (
	ShapeKey   Shape = iota // k(ID, kind, Sub); Aux tells objects with one key apart and is not written
	ShapePair               // k(ID, kind, a(Sub, Aux))
	ShapeNum                // ID
	ShapeNums               // a(ID, Sub)
	ShapeNamed              // a(ID, 'name'): Sub is the name's Names.Handle
)

// KindInfo declares a kind of object.
type KindInfo struct {
	Name   string // the atom, such as inode_item
	Shape  Shape
	Unique bool    // of ShapeKey: no two objects share a key, Aux is 0
	Doc    string  // one line for the author of rules
	Fields []Field // the fields that such an object can have, besides FieldObject
}

// A Schema gives names to the numbers of a file system's change records. It is declared once by the
// interpreter and not changed afterwards.
type Schema struct {
	FS         string     // "btrfs", "ext3": the folder of its rules
	KindIsTree bool       // the first argument of change/5 is the kind (ext3), not the tree (Btrfs)
	Kinds      []KindInfo // by Kind; [0] is not used
	Fields     []string   // by Field, as rules write them: "size", "f(mode,s_ifmt)"; [0] is "object"
	Words      []string   // by WordID; [0] is "present"
}

// KindByName returns the kind with a name; ok is false if there is none.
func (s *Schema) KindByName(name string) (k Kind, ok bool) {
	for i := 1; i < len(s.Kinds); i++ {
		if s.Kinds[i].Name == name {
			return Kind(i), true
		}
	}
	return 0, false
}

// KindName returns the name of a kind, or its number if the schema does not have it.
func (s *Schema) KindName(k Kind) string {
	if k == 0 || int(k) >= len(s.Kinds) {
		return strconv.Itoa(int(k))
	}
	return s.Kinds[k].Name
}

// FieldName returns the name of a field as rules write it.
func (s *Schema) FieldName(f Field) string {
	if int(f) >= len(s.Fields) {
		return strconv.Itoa(int(f))
	}
	return s.Fields[f]
}

// NumText writes a number as people know it: the special object ids at the top of the 64 bits
// (BTRFS_EXTENT_CSUM_OBJECTID is −10) as negative numbers, all others as they are.
func NumText(n uint64) string {
	if n > math.MaxUint64-512 {
		return strconv.FormatInt(int64(n), 10)
	}
	return strconv.FormatUint(n, 10)
}

// TreeText writes the first argument of change/5.
func (s *Schema) TreeText(o Object) string {
	if s.KindIsTree {
		return s.KindName(o.Kind)
	}
	return NumText(o.Tree)
}

// IDText writes the identifier of an object. names is needed for ShapeNamed alone.
func (s *Schema) IDText(o Object, names *Names) string {
	shape := ShapeKey
	if int(o.Kind) < len(s.Kinds) {
		shape = s.Kinds[o.Kind].Shape
	}
	switch shape {
	case ShapePair:
		return fmt.Sprintf("k(%s,%s,a(%s,%s))", NumText(o.ID), s.KindName(o.Kind), NumText(o.Sub), NumText(o.Aux))
	case ShapeNum:
		return NumText(o.ID)
	case ShapeNums:
		return fmt.Sprintf("a(%s,%s)", NumText(o.ID), NumText(o.Sub))
	case ShapeNamed:
		return fmt.Sprintf("a(%s,%s)", NumText(o.ID), Quote(names.At(o.Sub)))
	default:
		return fmt.Sprintf("k(%s,%s,%s)", NumText(o.ID), s.KindName(o.Kind), NumText(o.Sub))
	}
}

// ValueText writes a value as rules do.
func (s *Schema) ValueText(v Value, names *Names) string {
	switch v.tag {
	case U64:
		return strconv.FormatUint(v.n, 10)
	case Word:
		if v.n < uint64(len(s.Words)) {
			return s.Words[v.n]
		}
		return strconv.FormatUint(v.n, 10)
	case Name:
		return Quote(names.Text(v))
	case Key:
		id, kind, sub, _ := names.KeyOf(v)
		return fmt.Sprintf("k(%s,%s,%s)", NumText(id), s.KindName(kind), NumText(sub))
	default:
		return "null"
	}
}

// RecordText writes a record as the change/5 fact that rules see.
func (s *Schema) RecordText(r Record, names *Names) string {
	return fmt.Sprintf("change(%s,%s,%s,%s,%s)", s.TreeText(r.Object), s.IDText(r.Object, names),
		s.FieldName(r.Field), s.ValueText(r.Old, names), s.ValueText(r.New, names))
}

// Quote writes a name as a quoted Prolog atom. Bytes that are not printable ASCII are written as
// \xHH\, so that a hostile file name cannot forge a line of output or move the cursor of a terminal.
func Quote(name string) string {
	var b strings.Builder
	b.WriteByte('\'')
	for i := 0; i < len(name); i++ {
		switch c := name[i]; {
		case c == '\'' || c == '\\':
			b.WriteByte('\\')
			b.WriteByte(c)
		case c < 0x20 || c >= 0x7f:
			fmt.Fprintf(&b, `\x%02x\`, c)
		default:
			b.WriteByte(c)
		}
	}
	b.WriteByte('\'')
	return b.String()
}
