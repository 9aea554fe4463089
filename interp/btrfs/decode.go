package btrfs

import (
	"errors"

	"fsward/change"
	"fsward/interp/btrfs/ondisk"
	"fsward/interp/disk"
)

// An itemContext holds what the checks of items need to know about the file system.
type itemContext struct {
	sectorSize, nodeSize uint32
	generation           uint64 // of the superblock: nothing in its trees is newer
	incompat             uint64 // of the superblock
	csum                 ondisk.CsumType
	fsid                 [16]byte // of the nodes and the devices
	rewritten            bool     // a tool is writing the fsid in place
	devs                 *devices
	chunks               *chunkMap // for checks; nil while the chunk tree itself is read
	where                *chunkMap // for the field chunk; nil if the chunks are not known
}

// aligned reports whether an address or length is a multiple of sectorsize.
func (c *itemContext) aligned(n uint64) bool { return n&uint64(c.sectorSize-1) == 0 }

// A decoder turns items into objects with fields. It checks the contents of the items against a
// context. reset empties it for reuse.
type decoder struct {
	objectBuilder
	ctx  itemContext
	leaf *ondisk.Node // of the items
}

// chunkOf puts the first address of the chunk that holds an address. It puts nothing if no chunk
// holds it.
func (d *decoder) chunkOf(logical uint64) {
	if d.ctx.where == nil || !d.wants(ondisk.FieldChunk, false) {
		return
	}
	if c := d.ctx.where.find(logical, 1); c != nil {
		d.num(ondisk.FieldChunk, c.logical)
	}
}

// ref decodes the item that a reference names.
func (d *decoder) ref(item *itemRef) error {
	d.leaf = item.leaf
	return d.item(item.key(), item.data())
}

// item decodes one item and checks its contents (btrfs_check_leaf's check_leaf_item). The error is
// a *structureError or an *interp.UnsupportedError.
func (d *decoder) item(k ondisk.Key, r disk.Region) error {
	kind := ondisk.KindByType[k.Type]
	if kind == 0 || ondisk.ItemTypes[kind].Trees&ondisk.ClassOf(d.tree) == 0 {
		return violatedAt(itemTypeRule, r.Addr(), "an item of type %d in tree %s",
			k.Type, change.NumText(d.tree)).in(d.tree, k)
	}
	err := d.contents(kind, k, r)
	if e, ok := errors.AsType[*structureError](err); ok {
		return e.in(d.tree, k)
	}
	return err
}

// contents decodes an item whose type belongs in the tree.
func (d *decoder) contents(kind change.Kind, k ondisk.Key, r disk.Region) error {
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
	case ondisk.KindTreeBlockRef, ondisk.KindSharedBlockRef, ondisk.KindExtentDataRef,
		ondisk.KindSharedDataRef:
		return d.keyedRef(kind, k, r)
	case ondisk.KindBlockGroupItem:
		return d.blockGroup(k, r)
	case ondisk.KindUUIDSubvol, ondisk.KindUUIDReceived:
		return d.uuidItem(kind, k, r)
	case ondisk.KindQgroupStatus, ondisk.KindQgroupInfo, ondisk.KindQgroupLimit,
		ondisk.KindQgroupRelation:
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
	case ondisk.KindFreeSpaceHeader, ondisk.KindOrphanItem, ondisk.KindVerityDesc,
		ondisk.KindVerityMerkle, ondisk.KindTemporaryItem, ondisk.KindPersistentItem,
		ondisk.KindDevReplace:
		if err := checkSmallItem(kind, k, r); err != nil {
			return err
		}
	case ondisk.KindChunkItem:
		return d.chunkItem(k, r)
	}
	return d.plainItem(kind, k, r)
}

// plainItem decodes an item that consists of its structure, of its key alone, or of bytes that
// fsward does not decode.
func (d *decoder) plainItem(kind change.Kind, k ondisk.Key, r disk.Region) error {
	t := &ondisk.ItemTypes[kind]
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
