package ondisk

import (
	"encoding/binary"
	"slices"

	"fsward/change"
)

// A Structure is an on-disk structure. No other place has its offsets: its table of fields drives
// the records, the views of rules, the corrupter, and the generated views in views_*.go. A test
// compares the tables with the headers of e2fsprogs.
type Structure struct {
	Name   string // in C
	Size   int    // bytes, as far as they are read
	Fields []Field
}

// A Field is a number in an on-disk structure, or an array of bytes, which counts as the number at
// its beginning.
type Field struct {
	ID    change.Field // 0: not part of the records
	Name  string       // the member in C, without the prefix of its structure
	Off   int          // bytes from the start of the structure
	Array int          // bytes of the array; 0: it is not an array
	enc   encoding
}

// An encoding is how a number is stored: its width and its byte order.
type encoding uint8

const (
	encU8 encoding = iota
	encLE16
	encLE32
	encBE16 // the journal is big-endian throughout
	encBE32
)

func field(enc encoding, name string, off int, id []change.Field) Field {
	f := Field{Name: name, Off: off, enc: enc}
	if len(id) > 0 {
		f.ID = id[0]
	}
	return f
}

func u8(name string, off int, id ...change.Field) Field   { return field(encU8, name, off, id) }
func le16(name string, off int, id ...change.Field) Field { return field(encLE16, name, off, id) }
func le32(name string, off int, id ...change.Field) Field { return field(encLE32, name, off, id) }
func be16(name string, off int) Field                     { return field(encBE16, name, off, nil) }
func be32(name string, off int) Field                     { return field(encBE32, name, off, nil) }

func array(f Field, bytes int) Field {
	f.Array = bytes
	return f
}

// Width returns the bytes that a number takes: 1, 2 or 4.
func (f Field) Width() int {
	switch f.enc {
	case encU8:
		return 1
	case encLE16, encBE16:
		return 2
	default:
		return 4
	}
}

// Big reports whether a number is big-endian.
func (f Field) Big() bool { return f.enc == encBE16 || f.enc == encBE32 }

// Get reads a field of a structure. b must be long enough.
func (f Field) Get(b []byte) uint64 {
	switch b = b[f.Off:]; f.enc {
	case encU8:
		return uint64(b[0])
	case encLE16:
		return uint64(binary.LittleEndian.Uint16(b))
	case encLE32:
		return uint64(binary.LittleEndian.Uint32(b))
	case encBE16:
		return uint64(binary.BigEndian.Uint16(b))
	default:
		return uint64(binary.BigEndian.Uint32(b))
	}
}

// Put writes a field of a structure. b must be long enough. Put cuts off the bits that do not fit.
func (f Field) Put(b []byte, v uint64) {
	switch b = b[f.Off:]; f.enc {
	case encU8:
		b[0] = byte(v)
	case encLE16:
		binary.LittleEndian.PutUint16(b, uint16(v))
	case encLE32:
		binary.LittleEndian.PutUint32(b, uint32(v))
	case encBE16:
		binary.BigEndian.PutUint16(b, uint16(v))
	default:
		binary.BigEndian.PutUint32(b, uint32(v))
	}
}

// Values reads the fields of a structure that are part of the records from its bytes.
func (s *Structure) Values(b []byte) func(change.Field) change.Value {
	return func(id change.Field) change.Value {
		for i := range s.Fields {
			if s.Fields[i].ID == id {
				return change.Num(s.Fields[i].Get(b))
			}
		}
		return change.Value{}
	}
}

// recorded lists the fields of a structure that are part of the records, and more.
func (s *Structure) recorded(more ...change.Field) []change.Field {
	var fields []change.Field
	for _, f := range s.Fields {
		if f.ID != 0 {
			fields = append(fields, f.ID)
		}
	}
	return slices.Concat(fields, more)
}
