package btrfs

import (
	"errors"

	"fsward/change"
	"fsward/interp/disk"
)

// A fieldValue is one field of an object on one side of a change.
type fieldValue struct {
	field change.Field
	quiet bool // the View answers it, records leave it out
	value change.Value
}

// An entity is an object found in an item, with its fields vals[from:to] of the decoder.
type entity struct {
	obj      change.Object
	from, to int
}

// itemContext is what the contents of items are checked against.
type itemContext struct {
	sectorSize, nodeSize uint32
	generation           uint64 // of the superblock: nothing in its trees is newer
	incompat             uint64 // of the superblock
	csum                 csumType
	fsid                 [16]byte // of the nodes and the devices
	rewritten            bool     // a tool is at work that writes the fsid in place
	devs                 *devices
	chunks               *chunkMap // nil while the chunk tree itself is read
	where                *chunkMap // what chunk an address is in, where that is not judged; nil if it is not known
}

// aligned tells whether an address or length is a multiple of sectorsize.
func (c *itemContext) aligned(n uint64) bool { return n&uint64(c.sectorSize-1) == 0 }

// A decoder turns items into objects with fields. It is emptied by reset and reused.
type decoder struct {
	ctx   itemContext
	all   bool      // decode the quiet fields as well
	only  *fieldSet // which fields; nil: each. Contents are checked all the same
	tree  uint64
	names *change.Names
	leaf  *node // that the items are in
	ents  []entity
	vals  []fieldValue
}

// A fieldSet is some of the fields that objects have.
type fieldSet [(fieldEnd + 63) / 64]uint64

func (s *fieldSet) has(f change.Field) bool { return f < fieldEnd && s[f/64]&(1<<(f%64)) != 0 }

func (s *fieldSet) add(f change.Field) {
	if f < fieldEnd {
		s[f/64] |= 1 << (f % 64)
	}
}

// wants tells whether a field is to be put.
func (d *decoder) wants(f change.Field, quiet bool) bool {
	return (!quiet || d.all) && (d.only == nil || d.only.has(f))
}

func (d *decoder) reset() {
	d.ents, d.vals = d.ents[:0], d.vals[:0]
}

// begin starts an object; the fields that follow are its.
func (d *decoder) begin(kind change.Kind, id, sub, aux uint64) {
	obj := change.Object{Tree: d.tree, ID: id, Kind: kind, Sub: sub, Aux: aux}
	d.ents = append(d.ents, entity{obj, len(d.vals), len(d.vals)})
}

func (d *decoder) put(f change.Field, quiet bool, v change.Value) {
	if !d.wants(f, quiet) {
		return
	}
	d.vals = append(d.vals, fieldValue{f, quiet, v})
	d.ents[len(d.ents)-1].to = len(d.vals)
}

func (d *decoder) num(f change.Field, n uint64) { d.put(f, false, change.Num(n)) }

func (d *decoder) name(b []byte) {
	if d.wants(fieldName, false) {
		d.put(fieldName, false, d.names.Intern(b))
	}
}

// chunkOf puts the chunk that an address is in, by its first address. An address in none has no such field.
func (d *decoder) chunkOf(logical uint64) {
	if d.ctx.where == nil || !d.wants(fieldChunk, false) {
		return
	}
	if c := d.ctx.where.find(logical, 1); c != nil {
		d.num(fieldChunk, c.logical)
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

// structure puts the fields of a structure. The caller has checked that r has at least its size, or as
// many bytes as limit says, where a structure may be cut short.
func (d *decoder) structure(s *structure, r disk.Region, limit int) error {
	for i := range s.fields {
		f := &s.fields[i]
		if f.off+f.width > limit {
			continue
		}
		if f.width == keySize {
			if d.wants(f.field, f.quiet) {
				d.put(f.field, f.quiet, d.keyValue(readKey(r, f.off)))
			}
			continue
		}
		if f.width == uuidSize {
			d.uuid(f, r)
			continue
		}
		if f.field != 0 && (f.words != nil || d.wants(f.field, f.quiet)) {
			n := read(r, f.off, f.width)
			v, err := wordOrNum(n, f.words)
			if err != nil {
				return violatedAt(itemRule, r.Addr()+uint64(f.off), "%s of %s is %d", f.member, s.name, n)
			}
			d.put(f.field, f.quiet, v)
		}
		for j := range f.parts {
			p := &f.parts[j]
			if p.words == nil && !d.wants(p.field, p.quiet) {
				continue
			}
			n := read(r, f.off, f.width)
			v, err := wordOrNum(n&p.mask>>p.shift, p.words)
			if err != nil {
				return violatedAt(itemRule, r.Addr()+uint64(f.off), "%s of %s is %#x", f.member, s.name, n)
			}
			d.put(p.field, p.quiet, v)
		}
	}
	return nil
}

var errNoWord = errors.New("no such value")

func wordOrNum(n uint64, words []change.WordID) (change.Value, error) {
	if words == nil {
		return change.Num(n), nil
	}
	if n >= uint64(len(words)) || words[n] == wordNone {
		return change.Value{}, errNoWord
	}
	return change.WordValue(words[n]), nil
}

// keyValue makes the value of a key that stands in an item. A type that is not known has kind 0.
func (d *decoder) keyValue(k key) change.Value {
	return d.names.Key(k.objectid, kindByType[k.typ], k.offset)
}

// ref decodes an item in a leaf.
func (d *decoder) ref(item *itemRef) error {
	d.leaf = item.leaf
	return d.item(item.key(), item.data())
}

// uuid puts a UUID as the key under which the uuid tree files it (btrfs_uuid_to_key); none if it is all
// zeros (btrfs_is_empty_uuid).
func (d *decoder) uuid(f *layoutField, r disk.Region) {
	if low, high := r.U64(f.off), r.U64(f.off+8); low|high != 0 && d.wants(f.field, f.quiet) {
		d.put(f.field, f.quiet, d.names.Key(low, f.kind, high))
	}
}

// item decodes one item and checks its contents (btrfs_check_leaf's check_leaf_item). The error is a
// *structureError or an *interp.UnsupportedError.
func (d *decoder) item(k key, r disk.Region) error {
	kind := kindByType[k.typ]
	if kind == 0 || itemTypes[kind].trees&classOf(d.tree) == 0 {
		return violatedAt(itemTypeRule, r.Addr(), "an item of type %d in tree %s", k.typ, change.NumText(d.tree)).in(d.tree, k)
	}
	err := d.contents(kind, k, r)
	if e, ok := errors.AsType[*structureError](err); ok {
		return e.in(d.tree, k)
	}
	return err
}

func (d *decoder) contents(kind change.Kind, k key, r disk.Region) error {
	t := &itemTypes[kind]
	switch kind {
	case kindInodeItem:
		return d.inodeItem(k, r)
	case kindInodeRef:
		return d.inodeRefs(k, r)
	case kindInodeExtref:
		return d.inodeExtrefs(k, r)
	case kindXattrItem, kindDirItem, kindDirIndex:
		return d.dirItems(kind, k, r)
	case kindExtentData:
		return d.fileExtent(k, r)
	case kindExtentCsum:
		return d.extentCsum(k, r)
	case kindRootItem:
		return d.rootItem(k, r)
	case kindRootRef, kindRootBackref:
		return d.rootRef(kind, k, r)
	case kindExtentItem, kindMetadataItem:
		return d.extentItem(kind, k, r)
	case kindTreeBlockRef, kindSharedBlockRef, kindExtentDataRef, kindSharedDataRef:
		return d.keyedRef(kind, k, r)
	case kindBlockGroupItem:
		return d.blockGroup(k, r)
	case kindUUIDSubvol, kindUUIDReceived:
		return d.uuidItem(kind, k, r)
	case kindQgroupStatus, kindQgroupInfo, kindQgroupLimit, kindQgroupRelation:
		return d.quotaItem(kind, k, r)
	case kindFreeSpaceInfo:
		return d.freeSpaceInfo(k, r)
	case kindFreeSpaceExtent:
		return d.freeSpaceExtent(k, r)
	case kindFreeSpaceBitmap:
		return d.freeSpaceBitmap(k, r)
	case kindDevItem:
		return d.devItem(k, r)
	case kindDevExtent:
		return d.devExtent(k, r)
	case kindFreeSpaceHeader, kindOrphanItem, kindVerityDesc, kindVerityMerkle, kindTemporaryItem, kindPersistentItem,
		kindDevReplace:
		if err := checkSmallItem(kind, k, r); err != nil {
			return err
		}
	case kindChunkItem:
		return d.chunkItem(k, r)
	}
	d.begin(kind, k.objectid, k.offset, 0)
	switch {
	case t.layout != nil:
		if r.Len() != t.layout.size {
			return sizeError(t, r, t.layout.size)
		}
		return d.structure(t.layout, r, t.layout.size)
	case t.extra == nil: // all is in the key
		if r.Len() != 0 {
			return sizeError(t, r, 0)
		}
	default:
		d.num(fieldSize, uint64(r.Len()))
	}
	return nil
}

func sizeError(t *itemType, r disk.Region, want int) error {
	return violatedAt(itemRule, r.Addr(), "%s has %d bytes, want %d", t.name, r.Len(), want)
}
