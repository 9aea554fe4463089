package btrfs

import (
	"cmp"
	"errors"

	"fsward/change"
	"fsward/interp/btrfs/ondisk"
	"fsward/interp/disk"
)

// A fieldValue is one field of an object on one side of a change.
type fieldValue struct {
	field    change.Field
	viewOnly bool // the View answers it, records omit it
	value    change.Value
}

// An entity is an object in an item. Its fields are vals[from:to] of the builder.
type entity struct {
	obj      change.Object
	from, to int
}

func (e entity) compareObject(o change.Object) int { return e.obj.Compare(o) }

// compare orders entities by object, and those of one object by their place.
func (e entity) compare(o entity) int {
	if c := e.obj.Compare(o.obj); c != 0 {
		return c
	}
	return cmp.Or(cmp.Compare(e.from, o.from), cmp.Compare(e.to, o.to))
}

// An objectBuilder collects objects and their fields.
type objectBuilder struct {
	all   bool      // collect view-only fields too
	only  *fieldSet // the wanted fields; nil: all fields
	named []byte    // the wanted name of an inode; nil: all names
	tree  uint64    // of the objects
	names *change.Names
	ents  []entity
	vals  []fieldValue
}

// A fieldSet is a set of fields.
type fieldSet [(ondisk.FieldEnd + 63) / 64]uint64

func (s *fieldSet) has(f change.Field) bool {
	return f < ondisk.FieldEnd && s[f/64]&(1<<(f%64)) != 0
}

func (s *fieldSet) add(f change.Field) {
	if f < ondisk.FieldEnd {
		s[f/64] |= 1 << (f % 64)
	}
}

// wants reports whether put collects a field.
func (b *objectBuilder) wants(f change.Field, viewOnly bool) bool {
	return (!viewOnly || b.all) && (b.only == nil || b.only.has(f))
}

// reset empties the builder for reuse.
func (b *objectBuilder) reset() {
	b.ents, b.vals = b.ents[:0], b.vals[:0]
}

// begin starts an object. The fields that are put next belong to it.
func (b *objectBuilder) begin(kind change.Kind, id, sub, aux uint64) {
	obj := change.Object{Tree: b.tree, ID: id, Kind: kind, Sub: sub, Aux: aux}
	b.ents = append(b.ents, entity{obj, len(b.vals), len(b.vals)})
}

// put adds a field to the last object if it is wanted.
func (b *objectBuilder) put(f change.Field, viewOnly bool, v change.Value) {
	if !b.wants(f, viewOnly) {
		return
	}
	b.vals = append(b.vals, fieldValue{f, viewOnly, v})
	b.ents[len(b.ents)-1].to = len(b.vals)
}

func (b *objectBuilder) num(f change.Field, n uint64) { b.put(f, false, change.Num(n)) }

// name puts a name, which it interns only if the field is wanted.
func (b *objectBuilder) name(name []byte) {
	if b.wants(ondisk.FieldName, false) {
		b.put(ondisk.FieldName, false, b.names.Intern(name))
	}
}

// read returns a member of 1, 2, 4 or 8 bytes.
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

// structure puts the fields of a structure that lie within its first limit bytes. The caller has
// checked that r has limit bytes.
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
				return violatedAt(itemRule, r.Addr()+uint64(f.Off), "%s of %s is %d",
					f.Name, s.Name, n)
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
				return violatedAt(itemRule, r.Addr()+uint64(f.Off), "%s of %s is %#x",
					f.Name, s.Name, n)
			}
			b.put(p.Field, p.ViewOnly, v)
		}
	}
	return nil
}

var errNoWord = errors.New("no such value")

// wordOrNum returns the word that stands for a number, or the number itself if the field has no
// words. The error is errNoWord if the number is invalid.
func wordOrNum(n uint64, words []change.WordID) (change.Value, error) {
	if words == nil {
		return change.Num(n), nil
	}
	if n >= uint64(len(words)) || words[n] == ondisk.WordNone {
		return change.Value{}, errNoWord
	}
	return change.WordValue(words[n]), nil
}

// keyValue returns the value of a key in an item. An unknown type gets kind 0.
func (b *objectBuilder) keyValue(k ondisk.Key) change.Value {
	return b.names.Key(k.ObjectID, ondisk.KindByType[k.Type], k.Offset)
}

// uuid puts a UUID as the key under which the uuid tree files it (btrfs_uuid_to_key). It puts
// nothing if the UUID is all zeros (btrfs_is_empty_uuid).
func (b *objectBuilder) uuid(f *ondisk.Member, r disk.Region) {
	const half = ondisk.UUIDSize / 2
	low, high := r.U64(f.Off), r.U64(f.Off+half)
	if low|high != 0 && b.wants(f.Field, f.ViewOnly) {
		b.put(f.Field, f.ViewOnly, b.names.Key(low, f.Kind, high))
	}
}

// link puts the target of a name together with the hash of the name. All objects of one name have
// the same link. Other names have other links, even if their hashes collide and they share a key.
func (b *objectBuilder) link(id uint64, kind change.Kind, name []byte) {
	if b.wants(ondisk.FieldLink, true) {
		b.put(ondisk.FieldLink, true, b.names.Key(id, kind, nameID(name)))
	}
}

// extentSpan puts the bytes that an extent adds to nbytes of its inode, and the offset in the file
// at which the extent ends (btrfs_file_extent_end).
func (b *objectBuilder) extentSpan(nbytes, end uint64) {
	b.num(ondisk.FieldNBytes, nbytes)
	b.put(ondisk.FieldEndOffset, true, change.Num(end))
}

// superBlock decodes the superblock as an object.
func (b *objectBuilder) superBlock(s ondisk.Superblock) error {
	o := ondisk.SuperObject
	b.begin(o.Kind, o.ID, o.Sub, o.Aux)
	r := disk.NewRegion(s.Bytes()[:], s.Bytenr())
	return b.structure(&ondisk.SuperLayout, r, ondisk.SuperSize)
}
