package btrfs

import (
	"math"

	"fsward/interp/btrfs/ondisk"
	"fsward/interp/disk"
)

// inlineRefs decodes the back references inside one extent item. They are sorted by ascending type,
// and within a type by descending sequence: lookup_inline_extent_backref relies on it.
type inlineRefs struct {
	*decoder
	bytenr    uint64 // of the extent
	treeBlock bool   // the extent is a tree block
	refs      uint64 // references counted so far
}

// decode decodes the references in r from an offset to the end.
func (x *inlineRefs) decode(r disk.Region, off uint64) error {
	lastType, lastSeq := uint8(0), uint64(math.MaxUint64)
	for off < uint64(r.Len()) {
		bad := func(format string, args ...any) error {
			return violatedAt(itemRule, r.Addr()+off, format, args...)
		}
		typ := r.U8(int(off) + ondisk.ExtentInlineRefTypeAt)
		size, ok := inlineRefSize(typ)
		if !ok {
			return bad("a back reference has type %d", typ)
		}
		ref, err := r.Sub(off+ondisk.ExtentInlineRefOffsetAt, size)
		if err != nil {
			return bad("a back reference of type %d lies beyond the end of the item", typ)
		}
		isOwner := typ == ondisk.ExtentOwnerRefKey
		isBlock := typ == ondisk.TreeBlockRefKey || typ == ondisk.SharedBlockRefKey
		if !isOwner && isBlock != x.treeBlock {
			return bad("a back reference of type %d does not fit the flags of its extent", typ)
		}
		hasOwners := x.ctx.incompat&ondisk.IncompatSimpleQuota != 0
		if isOwner && (!hasOwners || x.treeBlock || lastType != 0) {
			return bad("an extent_owner_ref out of place: " +
				"it comes first, on data, with the feature SIMPLE_QUOTA")
		}
		seq := r.U64(int(off) + ondisk.ExtentInlineRefOffsetAt)
		if typ == ondisk.ExtentDataRefKey { // it has no offset; its hash is the sequence
			seq = ondisk.ExtentDataRefHash(ref.Bytes())
		}
		if err := x.put(typ, seq, ref); err != nil {
			return err
		}
		if typ < lastType || typ == lastType && seq > lastSeq {
			return bad("back references are out of order: "+
				"type %d sequence %#x after type %d sequence %#x", typ, seq, lastType, lastSeq)
		}
		lastType, lastSeq = typ, seq
		off += ondisk.ExtentInlineRefOffsetAt + size
	}
	return nil
}

// inlineRefAddr is the size of the offset in a btrfs_extent_inline_ref. It is the address of a
// parent, or the number of a tree.
const inlineRefAddr = ondisk.ExtentInlineRefSize - ondisk.ExtentInlineRefOffsetAt

// inlineRefSize returns the number of bytes that follow the type of a back reference. ok is false
// if there is no such type.
func inlineRefSize(typ uint8) (size uint64, ok bool) {
	switch typ {
	case ondisk.ExtentDataRefKey:
		return ondisk.ExtentDataRefSize, true
	case ondisk.SharedDataRefKey:
		return inlineRefAddr + ondisk.SharedDataRefSize, true
	case ondisk.TreeBlockRefKey, ondisk.SharedBlockRefKey, ondisk.ExtentOwnerRefKey:
		return inlineRefAddr, true
	default:
		return 0, false
	}
}

// put puts a back reference, and counts the references that it stands for. ref holds the bytes
// behind the type.
func (x *inlineRefs) put(typ uint8, seq uint64, ref disk.Region) error {
	switch typ {
	case ondisk.ExtentOwnerRefKey:
		x.begin(ondisk.KindExtentOwnerRef, x.bytenr, seq, 0)
		x.num(ondisk.FieldRoot, seq)
		return nil
	case ondisk.ExtentDataRefKey:
		x.refs += uint64(ondisk.ExtentDataRef{Region: ref}.Count())
		return x.extentDataRef(x.bytenr, ref)
	case ondisk.SharedDataRefKey:
		count, err := ref.Sub(inlineRefAddr, ondisk.SharedDataRefSize)
		if err != nil {
			return err
		}
		x.refs += uint64(ondisk.SharedDataRef{Region: count}.Count())
		return x.sharedDataRef(x.bytenr, seq, count)
	default:
		x.refs++
		return x.blockRef(ondisk.KindByType[typ], x.bytenr, seq, ref)
	}
}
