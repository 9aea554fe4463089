package btrfs

import (
	"errors"

	"fsward/change"
	"fsward/interp/btrfs/ondisk"
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
	csum                 ondisk.CsumType
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
	leaf  *ondisk.Node // that the items are in
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
	if d.wants(ondisk.FieldName, false) {
		d.put(ondisk.FieldName, false, d.names.Intern(b))
	}
}

// chunkOf puts the chunk that an address is in, by its first address. An address in none has no such field.
func (d *decoder) chunkOf(logical uint64) {
	if d.ctx.where == nil || !d.wants(ondisk.FieldChunk, false) {
		return
	}
	if c := d.ctx.where.find(logical, 1); c != nil {
		d.num(ondisk.FieldChunk, c.logical)
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
func (d *decoder) structure(s *ondisk.Structure, r disk.Region, limit int) error {
	for i := range s.Fields {
		f := &s.Fields[i]
		if f.Off+f.Width > limit {
			continue
		}
		if f.Width == ondisk.DiskKeySize {
			if d.wants(f.Field, f.Quiet) {
				d.put(f.Field, f.Quiet, d.keyValue(ondisk.ReadKey(r, f.Off)))
			}
			continue
		}
		if f.Width == ondisk.UUIDSize {
			d.uuid(f, r)
			continue
		}
		if f.Field != 0 && (f.Words != nil || d.wants(f.Field, f.Quiet)) {
			n := read(r, f.Off, f.Width)
			v, err := wordOrNum(n, f.Words)
			if err != nil {
				return violatedAt(itemRule, r.Addr()+uint64(f.Off), "%s of %s is %d", f.Name, s.Name, n)
			}
			d.put(f.Field, f.Quiet, v)
		}
		for j := range f.Parts {
			p := &f.Parts[j]
			if p.Words == nil && !d.wants(p.Field, p.Quiet) {
				continue
			}
			n := read(r, f.Off, f.Width)
			v, err := wordOrNum(n&p.Mask>>p.Shift, p.Words)
			if err != nil {
				return violatedAt(itemRule, r.Addr()+uint64(f.Off), "%s of %s is %#x", f.Name, s.Name, n)
			}
			d.put(p.Field, p.Quiet, v)
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
func (d *decoder) keyValue(k ondisk.Key) change.Value {
	return d.names.Key(k.ObjectID, ondisk.KindByType[k.Type], k.Offset)
}

// ref decodes an item in a leaf.
func (d *decoder) ref(item *itemRef) error {
	d.leaf = item.leaf
	return d.item(item.key(), item.data())
}

// uuid puts a UUID as the key under which the uuid tree files it (btrfs_uuid_to_key); none if it is all
// zeros (btrfs_is_empty_uuid).
func (d *decoder) uuid(f *ondisk.Member, r disk.Region) {
	if low, high := r.U64(f.Off), r.U64(f.Off+8); low|high != 0 && d.wants(f.Field, f.Quiet) {
		d.put(f.Field, f.Quiet, d.names.Key(low, f.Kind, high))
	}
}

// item decodes one item and checks its contents (btrfs_check_leaf's check_leaf_item). The error is a
// *structureError or an *interp.UnsupportedError.
func (d *decoder) item(k ondisk.Key, r disk.Region) error {
	kind := ondisk.KindByType[k.Type]
	if kind == 0 || ondisk.ItemTypes[kind].Trees&ondisk.ClassOf(d.tree) == 0 {
		return violatedAt(itemTypeRule, r.Addr(), "an item of type %d in tree %s", k.Type, change.NumText(d.tree)).in(d.tree, k)
	}
	err := d.contents(kind, k, r)
	if e, ok := errors.AsType[*structureError](err); ok {
		return e.in(d.tree, k)
	}
	return err
}

func (d *decoder) contents(kind change.Kind, k ondisk.Key, r disk.Region) error {
	t := &ondisk.ItemTypes[kind]
	switch kind {
	case ondisk.KindInodeItem:
		return d.inodeItem(k, r)
	case ondisk.KindInodeRef:
		return d.inodeRefs(k, r)
	case ondisk.KindInodeExtref:
		return d.inodeExtrefs(k, r)
	case ondisk.KindXattrItem, ondisk.KindDirItem, ondisk.KindDirIndex:
		return d.dirItems(kind, k, r)
	case ondisk.KindExtentData:
		return d.fileExtent(k, r)
	case ondisk.KindExtentCsum:
		return d.extentCsum(k, r)
	case ondisk.KindRootItem:
		return d.rootItem(k, r)
	case ondisk.KindRootRef, ondisk.KindRootBackref:
		return d.rootRef(kind, k, r)
	case ondisk.KindExtentItem, ondisk.KindMetadataItem:
		return d.extentItem(kind, k, r)
	case ondisk.KindTreeBlockRef, ondisk.KindSharedBlockRef, ondisk.KindExtentDataRef, ondisk.KindSharedDataRef:
		return d.keyedRef(kind, k, r)
	case ondisk.KindBlockGroupItem:
		return d.blockGroup(k, r)
	case ondisk.KindUUIDSubvol, ondisk.KindUUIDReceived:
		return d.uuidItem(kind, k, r)
	case ondisk.KindQgroupStatus, ondisk.KindQgroupInfo, ondisk.KindQgroupLimit, ondisk.KindQgroupRelation:
		return d.quotaItem(kind, k, r)
	case ondisk.KindFreeSpaceInfo:
		return d.freeSpaceInfo(k, r)
	case ondisk.KindFreeSpaceExtent:
		return d.freeSpaceExtent(k, r)
	case ondisk.KindFreeSpaceBitmap:
		return d.freeSpaceBitmap(k, r)
	case ondisk.KindDevItem:
		return d.devItem(k, r)
	case ondisk.KindDevExtent:
		return d.devExtent(k, r)
	case ondisk.KindFreeSpaceHeader, ondisk.KindOrphanItem, ondisk.KindVerityDesc, ondisk.KindVerityMerkle, ondisk.KindTemporaryItem, ondisk.KindPersistentItem,
		ondisk.KindDevReplace:
		if err := checkSmallItem(kind, k, r); err != nil {
			return err
		}
	case ondisk.KindChunkItem:
		return d.chunkItem(k, r)
	}
	d.begin(kind, k.ObjectID, k.Offset, 0)
	switch {
	case t.Layout != nil:
		if r.Len() != t.Layout.Size {
			return sizeError(t, r, t.Layout.Size)
		}
		return d.structure(t.Layout, r, t.Layout.Size)
	case t.Extra == nil: // all is in the key
		if r.Len() != 0 {
			return sizeError(t, r, 0)
		}
	default:
		d.num(ondisk.FieldSize, uint64(r.Len()))
	}
	return nil
}

func sizeError(t *ondisk.ItemType, r disk.Region, want int) error {
	return violatedAt(itemRule, r.Addr(), "%s has %d bytes, want %d", t.Name, r.Len(), want)
}
