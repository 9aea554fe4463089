package change

import (
	"fmt"
	"math"
	"strconv"
)

// WordID is an index into Schema.Words.
type WordID uint16

// WordPresent is the value of FieldObject for an object that exists. It is the first word of every
// schema.
const WordPresent WordID = 0

// Shape is the text form of an object's identifier. It determines how the numbers of Object appear
// in it.
type Shape uint8

const (
	ShapeKey   Shape = iota // k(ID, kind, Sub); Aux is not written
	ShapePair               // k(ID, kind, a(Sub, Aux))
	ShapeNum                // ID
	ShapeNums               // a(ID, Sub)
	ShapeNamed              // a(ID, 'name'); Sub is the Names.Handle of the name
)

// KindInfo declares a kind of object.
type KindInfo struct {
	Name   string // the atom, such as inode_item
	Shape  Shape
	Unique bool    // ShapeKey only: no two objects have the same key, and Aux is 0
	ByName Field   // the field by which a Namer finds such objects; 0: none
	Doc    string  // one line for authors of rules
	Fields []Field // the fields that such an object can have besides FieldObject
	// Values describes the values of the fields.
	Values map[Field]FieldInfo
	// Group names the cost of a rule that visits all objects of one id ("extents of one file").
	// KeyGroup names that of one key, or of the first number of a pair ("names of one hash"). ""
	// means that there are at most a few such objects.
	Group, KeyGroup string
}

// A Schema maps the numbers in a file system's change records to names. The interpreter declares
// it. It never changes.
type Schema struct {
	FS         string     // "btrfs" or "ext3"; the name of the directory with its rules
	KindIsTree bool       // the first argument of change/5 is the kind (ext3), not the tree (Btrfs)
	Kinds      []KindInfo // by Kind; [0] is unused
	Fields     []string   // by Field, as in rules: "size", "f(mode,s_ifmt)"; [0] is "object"
	Words      []string   // by WordID; [0] is "present"
}

// A FieldType is the type of the values of a field.
type FieldType uint8

// The types of fields.
const (
	TypeNumber FieldType = iota // a number
	TypeWord                    // one of the words of the field
	TypeName                    // a name, as bytes
	TypeKey                     // a key k(OID, KIND, OFFSET)
)

// String returns the name of the type in documents.
func (t FieldType) String() string {
	return [...]string{"number", "word", "name", "key"}[t]
}

// A FieldInfo describes the values of a field of a kind of object, for authors of rules.
type FieldInfo struct {
	Type  FieldType
	Unit  string   // of a number: "bytes", "seconds since 1970", "0 or 1"; "" if it has none
	Words []string // the words that it can have
	// QueryOnly: queries return the field, and no change record has it.
	QueryOnly bool
}

// Info describes the values of a field of a kind. It returns the zero value if the schema does not
// describe them.
func (s *Schema) Info(k Kind, f Field) FieldInfo {
	if int(k) >= len(s.Kinds) {
		return FieldInfo{}
	}
	return s.Kinds[k].Values[f]
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

// FieldName returns the name of a field in the syntax of rules, or its number if the schema does
// not have it.
func (s *Schema) FieldName(f Field) string {
	if int(f) >= len(s.Fields) {
		return strconv.Itoa(int(f))
	}
	return s.Fields[f]
}

// NumText returns the text of a number. The 512 largest 64-bit numbers are written as negative
// numbers, because Btrfs defines its special object ids so (BTRFS_EXTENT_CSUM_OBJECTID is −10).
func NumText(n uint64) string { return string(appendNum(nil, n)) }

func appendNum(b []byte, n uint64) []byte {
	if n > math.MaxUint64-512 {
		return strconv.AppendInt(b, int64(n), 10)
	}
	return strconv.AppendUint(b, n, 10)
}

// appendPair appends a(N,M).
func appendPair(b []byte, n, m uint64) []byte {
	b = append(appendNum(append(b, "a("...), n), ',')
	return append(appendNum(b, m), ')')
}

// appendKey appends the beginning of a key: k(ID,KIND, without the last part.
func (s *Schema) appendKey(b []byte, id uint64, k Kind) []byte {
	b = append(appendNum(append(b, "k("...), id), ',')
	return append(append(b, s.KindName(k)...), ',')
}

// TreeText returns the first argument of change/5.
func (s *Schema) TreeText(o Object) string {
	if s.KindIsTree {
		return s.KindName(o.Kind)
	}
	return NumText(o.Tree)
}

// IDText returns the text of an object's identifier. It uses names for ShapeNamed only.
func (s *Schema) IDText(o Object, names *Names) string { return string(s.AppendID(nil, o, names)) }

// AppendID appends the text that IDText returns.
func (s *Schema) AppendID(b []byte, o Object, names *Names) []byte {
	shape := ShapeKey
	if int(o.Kind) < len(s.Kinds) {
		shape = s.Kinds[o.Kind].Shape
	}
	switch shape {
	case ShapePair:
		return append(appendPair(s.appendKey(b, o.ID, o.Kind), o.Sub, o.Aux), ')')
	case ShapeNum:
		return appendNum(b, o.ID)
	case ShapeNums:
		return appendPair(b, o.ID, o.Sub)
	case ShapeNamed:
		b = append(appendNum(append(b, "a("...), o.ID), ',')
		return append(appendQuoted(b, names.At(o.Sub)), ')')
	default:
		return append(appendNum(s.appendKey(b, o.ID, o.Kind), o.Sub), ')')
	}
}

// ValueText returns the text of a value in the syntax of rules.
func (s *Schema) ValueText(v Value, names *Names) string {
	return string(s.appendValue(nil, v, names))
}

func (s *Schema) appendValue(b []byte, v Value, names *Names) []byte {
	switch v.tag {
	case U64:
		return strconv.AppendUint(b, v.n, 10)
	case Word:
		if v.n < uint64(len(s.Words)) {
			return append(b, s.Words[v.n]...)
		}
		return strconv.AppendUint(b, v.n, 10)
	case Name:
		return appendQuoted(b, names.Text(v))
	case Key:
		id, kind, sub, _ := names.KeyOf(v)
		return append(appendNum(s.appendKey(b, id, kind), sub), ')')
	default:
		return append(b, "null"...)
	}
}

// RecordText returns the text of a record as the change/5 fact of rules.
func (s *Schema) RecordText(r Record, names *Names) string {
	return string(s.AppendRecord(nil, r, names))
}

// AppendRecord appends the text that RecordText returns.
func (s *Schema) AppendRecord(b []byte, r Record, names *Names) []byte {
	b = append(b, "change("...)
	if s.KindIsTree {
		b = append(b, s.KindName(r.Object.Kind)...)
	} else {
		b = appendNum(b, r.Object.Tree)
	}
	b = append(s.AppendID(append(b, ','), r.Object, names), ',')
	b = append(append(b, s.FieldName(r.Field)...), ',')
	b = append(s.appendValue(b, r.Old, names), ',')
	return append(s.appendValue(b, r.New, names), ')')
}

// Quote returns a name as a quoted Prolog atom. It writes bytes that are not printable ASCII as
// \xHH\, so that a hostile file name cannot forge a line of output or move the cursor of a
// terminal.
func Quote(name string) string { return string(appendQuoted(nil, name)) }

func appendQuoted(b []byte, name string) []byte {
	b = append(b, '\'')
	for i := 0; i < len(name); i++ {
		switch c := name[i]; {
		case c == '\'' || c == '\\':
			b = append(b, '\\', c)
		case c < 0x20 || c >= 0x7f:
			b = fmt.Appendf(b, `\x%02x\`, c)
		default:
			b = append(b, c)
		}
	}
	return append(b, '\'')
}
