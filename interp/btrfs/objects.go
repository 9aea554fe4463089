package btrfs

import (
	"errors"

	"fsward/change"
	"fsward/interp/btrfs/ondisk"
	"fsward/interp/disk"
)

// A fieldValue is one field of an object on one side of a change.
type fieldValue struct {
	field    change.Field
	viewOnly bool // the View answers it, records leave it out
	value    change.Value
}

// An entity is an object found in an item, with its fields vals[from:to] of the decoder.
type entity struct {
	obj      change.Object
	from, to int
}

// An objectBuilder collects objects and their fields. It owns what is built, and which fields are
// wanted.
type objectBuilder struct {
	all   bool      // build the quiet fields as well
	only  *fieldSet // the fields that are wanted; nil: each
	tree  uint64    // that the objects are in
	names *change.Names
	ents  []entity
	vals  []fieldValue
}

// A fieldSet is some of the fields that objects have.
type fieldSet [(ondisk.FieldEnd + 63) / 64]uint64

func (s *fieldSet) has(f change.Field) bool { return f < ondisk.FieldEnd && s[f/64]&(1<<(f%64)) != 0 }

func (s *fieldSet) add(f change.Field) {
	if f < ondisk.FieldEnd {
		s[f/64] |= 1 << (f % 64)
	}
}

// wants reports whether a field is to be put.
func (b *objectBuilder) wants(f change.Field, viewOnly bool) bool {
	return (!viewOnly || b.all) && (b.only == nil || b.only.has(f))
}

func (b *objectBuilder) reset() {
	b.ents, b.vals = b.ents[:0], b.vals[:0]
}

// begin starts an object; the fields that follow are its.
func (b *objectBuilder) begin(kind change.Kind, id, sub, aux uint64) {
	obj := change.Object{Tree: b.tree, ID: id, Kind: kind, Sub: sub, Aux: aux}
	b.ents = append(b.ents, entity{obj, len(b.vals), len(b.vals)})
}

func (b *objectBuilder) put(f change.Field, viewOnly bool, v change.Value) {
	if !b.wants(f, viewOnly) {
		return
	}
	b.vals = append(b.vals, fieldValue{f, viewOnly, v})
	b.ents[len(b.ents)-1].to = len(b.vals)
}

func (b *objectBuilder) num(f change.Field, n uint64) { b.put(f, false, change.Num(n)) }

func (b *objectBuilder) name(name []byte) {
	if b.wants(ondisk.FieldName, false) {
		b.put(ondisk.FieldName, false, b.names.Intern(name))
	}
}

// read returns a member of up to 8 bytes.
func read(r disk.Region, off, width int) uint64 {
	switch width {
	case 1:
		return uint64(r.U8(off))
	case 2:
		return uint64(r.U16(off))
	case 4:
		return uint64(r.U32(off))
	default:
		return r.U64(off)
	}
}

// structure puts the fields of a structure. The caller has checked that r has at least its size, or
// as many bytes as limit says, where a structure may be cut short.
func (b *objectBuilder) structure(s *ondisk.Structure, r disk.Region, limit int) error {
	for i := range s.Fields {
		f := &s.Fields[i]
		if f.Off+f.Width > limit {
			continue
		}
		if f.Width == ondisk.DiskKeySize {
			if b.wants(f.Field, f.ViewOnly) {
				b.put(f.Field, f.ViewOnly, b.keyValue(ondisk.ReadKey(r, f.Off)))
			}
			continue
		}
		if f.Width == ondisk.UUIDSize {
			b.uuid(f, r)
			continue
		}
		if f.Field != 0 && (f.Words != nil || b.wants(f.Field, f.ViewOnly)) {
			n := read(r, f.Off, f.Width)
			v, err := wordOrNum(n, f.Words)
			if err != nil {
				return violatedAt(itemRule, r.Addr()+uint64(f.Off), "%s of %s is %d", f.Name, s.Name, n)
			}
			b.put(f.Field, f.ViewOnly, v)
		}
		for j := range f.Parts {
			p := &f.Parts[j]
			if p.Words == nil && !b.wants(p.Field, p.ViewOnly) {
				continue
			}
			n := read(r, f.Off, f.Width)
			v, err := wordOrNum(n&p.Mask>>p.Shift, p.Words)
			if err != nil {
				return violatedAt(itemRule, r.Addr()+uint64(f.Off), "%s of %s is %#x", f.Name, s.Name, n)
			}
			b.put(p.Field, p.ViewOnly, v)
		}
	}
	return nil
}

var errNoWord = errors.New("no such value")

func wordOrNum(n uint64, words []change.WordID) (change.Value, error) {
	if words == nil {
		return change.Num(n), nil
	}
	if n >= uint64(len(words)) || words[n] == ondisk.WordNone {
		return change.Value{}, errNoWord
	}
	return change.WordValue(words[n]), nil
}

// keyValue makes the value of a key that stands in an item. A type that is not known has kind 0.
func (b *objectBuilder) keyValue(k ondisk.Key) change.Value {
	return b.names.Key(k.ObjectID, ondisk.KindByType[k.Type], k.Offset)
}

// uuid puts a UUID as the key under which the uuid tree files it (btrfs_uuid_to_key); none if it is
// all zeros (btrfs_is_empty_uuid).
func (b *objectBuilder) uuid(f *ondisk.Member, r disk.Region) {
	if low, high := r.U64(f.Off), r.U64(f.Off+8); low|high != 0 && b.wants(f.Field, f.ViewOnly) {
		b.put(f.Field, f.ViewOnly, b.names.Key(low, f.Kind, high))
	}
}

// link puts what a name leads to together with which name it is. It is the same in each record of a
// name and in no record of another, where names with one hash stand side by side under one key.
func (b *objectBuilder) link(id uint64, kind change.Kind, name []byte) {
	if b.wants(ondisk.FieldLink, true) {
		b.put(ondisk.FieldLink, true, b.names.Key(id, kind, nameID(name)))
	}
}

// extentSpan puts what an extent counts for in the nbytes of its inode, and where in the file it
// ends (btrfs_file_extent_end).
func (b *objectBuilder) extentSpan(nbytes, end uint64) {
	b.num(ondisk.FieldNBytes, nbytes)
	b.put(ondisk.FieldEndOffset, true, change.Num(end))
}

// superBlock decodes the superblock as an object.
func (b *objectBuilder) superBlock(s ondisk.Superblock) error {
	b.begin(ondisk.SuperObject.Kind, ondisk.SuperObject.ID, ondisk.SuperObject.Sub, ondisk.SuperObject.Aux)
	return b.structure(&ondisk.SuperLayout, disk.NewRegion(s.Bytes()[:], s.Bytenr()), ondisk.SuperSize)
}
